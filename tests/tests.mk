# Test targets. A unit test is tests/unit/NAME.c (cmocka, one main); a program-level test is
# tests/cli/NAME.sh or .py, tests/tui/NAME.py: exit 0 pass, 77 skip.
units: $(UNIT)
