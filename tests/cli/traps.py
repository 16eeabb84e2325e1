#!/usr/bin/env python3
"""Traps of price lists (../shared/docs/pricing-sources.md section 10) at user level, each by its number:
SkyPilot's layouts, and a locale with a decimal comma. The others are in the tests of their sources
(trap_coverage.py finds them)."""
import os
import subprocess

from little import Box, check, csv_text, main
from makers import SKY, aws, aws_offer, own, own_list, sky

SKY10 = SKY + ",GpuInfo"


def catalogue(rows, header=SKY):
    box = Box()
    r = box.take("skypilot", csv_text(header, rows), "--vendor", "azure")
    return box, r


def trap_47_a_field_more_than_the_header():
    # the field at the end is written V1,V2 without quotes; those before it stand where the header says
    head = SKY + ",HyperVGenerations"
    good = sky("Standard_NC6s_v3", "3.06", "0.5", gpu="V100", region="eastus")
    lines = csv_text(head, [dict(good, HyperVGenerations="V1")]).splitlines()
    text = "\n".join([lines[0], lines[1], lines[1].replace("NC6s", "NC12s").replace("3.06", "6.12") + ",V2",
                      lines[1].replace("NC6s", "NC24s").replace("3.06", "12.24") + ",V2"]) + "\n"
    box = Box()
    r = box.take("skypilot", text, "--vendor", "azure")
    check("all three, with their prices", box.rows("instance_type", "price_per_hour", args=("--purchase", "on_demand")),
          [("Standard_NC12s_v3", "6.12"), ("Standard_NC24s_v3", "12.24"), ("Standard_NC6s_v3", "3.06")])
    check("told once: " + r.stderr, r.stderr.count("11 fields") + r.stderr.count("fields under a header") <= 1, True)
    # a needed column that stands behind the doubtful one can not be read from there
    moved = "HyperVGenerations," + SKY
    lines = csv_text(moved, [dict(good, HyperVGenerations="V1")]).splitlines()
    box = Box()
    box.take("skypilot", "\n".join([lines[0], lines[1], lines[1].replace("V1,", "V1,V2,", 1).replace("NC6s", "NC12s")]) + "\n",
             "--vendor", "azure")
    found = box.rows("instance_type", "price_per_hour", args=("--purchase", "on_demand"))
    check("a row that shifts is left out", found, [("Standard_NC6s_v3", "3.06")])


def trap_48_commas_in_names():
    box = Box()
    box.take("skypilot", csv_text(SKY, [sky("1x-RTX_4090", "0.4", gpu="RTX4090", region="Denmark, DK, EU"),
                                        sky("2x-RTX_4090", "0.8", gpu="RTX4090", count=2, region=", CA, NA"),
                                        sky("4x-RTX_4090", "1.6", gpu="RTX4090", count=4, region='Say "x", US, NA')]), "--vendor", "vast")
    check("quoted fields stay whole, the country is their second part", box.rows("instance_type", "region"),
          [("1x-RTX_4090", "dk"), ("2x-RTX_4090", "ca"), ("4x-RTX_4090", "us")])


def trap_49_gpu_info_is_optional():
    infos = ["{'Gpus': [{'Name': 'A10', 'Manufacturer': 'NVIDIA', 'Count': 1.0, 'MemoryInfo': {'SizeInMiB': 24576}}], 'TotalGpuMemoryInMiB': 24576}",
             '{"Gpus": [{"Name": "A10", "Manufacturer": "NVIDIA", "Count": 1, "MemoryInfo": {"SizeInMiB": 24576}}]}',
             "A10", "", "{'Gpus': [", "None", "nan"]
    box = Box()
    box.take("skypilot", csv_text(SKY10, [dict(sky("t%d" % i, "1"), GpuInfo=g) for i, g in enumerate(infos)]), "--vendor", "fluidstack")
    check("one A10 of 24 GB in each form", box.rows("instance_type", "gpu", "gpu_count", "gpu_memory_gib"),
          [("t%d" % i, "A10", 1, 24) for i in range(len(infos))])
    box = Box()
    box.take("skypilot", csv_text(SKY, [sky("t", "1")]), "--vendor", "fluidstack")
    check("without the column", box.rows("gpu", "gpu_count", "gpu_memory_gib"), [("A10", 1, 24)])


def trap_50_mib_that_are_gb():
    def info(n):
        return "{'Gpus': [{'Name': 'H100', 'Count': 1, 'MemoryInfo': {'SizeInMiB': %d}}]}" % n
    box = Box()
    box.take("skypilot", csv_text(SKY10, [dict(sky("t%d" % n, "1", gpu="H100-SXM"), GpuInfo=info(n)) for n in (80, 81920, 81559)]),
             "--vendor", "runpod")
    check("80 and 81920 are 80 GB", [round(m) for _, m in box.rows("instance_type", "gpu_memory_gib")], [80, 80, 80])
    box = Box()
    box.take("skypilot", csv_text(SKY10, [dict(sky("t%d" % n, "1", gpu="Some GPU"), GpuInfo=info(n)) for n in (1023, 1024)]), "--vendor", "runpod")
    rows = dict(box.rows("instance_type", "gpu_memory_gib"))
    check("from 1024 on they are MiB", rows["t1024"], 1)


def trap_63_a_locale_with_a_decimal_comma():
    box = Box()
    where = os.path.join(box.dir, "locales")
    os.makedirs(where)
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", os.path.join(where, "de_DE.UTF-8")], capture_output=True, check=False)
    env = {"LOCPATH": where, "LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"}
    asked = subprocess.run(["locale", "decimal_point"], env=dict(box.env, **env), capture_output=True, text=True, check=False)
    if made.returncode not in (0, 1) or asked.stdout.strip() != ",":
        print("SKIPPED trap_63: the locale de_DE can not be made here")
        return
    plain = Box()
    lists = (("aws-offer", aws_offer([aws("g5.xlarge", "1.0060000000", "1", vcpus=4, memory="16 GiB")])),
             ("skypilot", csv_text(SKY, [sky("t", "0.75", "0.25", memory="58.5")])),
             ("prices-csv", own_list([own("u", "1.5", gpu_count="0.5", memory_gib="3.75")])))
    for kind, text in lists:
        for b, more in ((box, env), (plain, {})):
            b.take(kind, text, *(("--vendor", "fluidstack") if kind == "skypilot" else ()), **more)
    for form in ("json", "csv"):
        args = ("prices", "--format", form, "--gpus", "0.5-1", "--max-price", "1.75")
        there, here = box.run(*args, **env), plain.run(*args)
        check(form, (there.returncode, there.stdout), (0, here.stdout))
        check(form + " has what was given", all(x in here.stdout for x in ("1.006", "58.5", "3.75", "0.25")), True)
    check("a price with a comma is refused there too", box.run("prices", "--max-price", "1,75", **env).returncode, 2)
    check("the table", box.run("prices", **env).stdout, plain.run("prices").stdout)


main([trap_47_a_field_more_than_the_header, trap_48_commas_in_names, trap_49_gpu_info_is_optional, trap_50_mib_that_are_gb,
      trap_63_a_locale_with_a_decimal_comma])
