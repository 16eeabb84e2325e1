/* A bare RapidJSON SAX pass: every event of a JSON file is counted and nothing is kept. A yardstick
 * of tests/bench/import_offer.sh. */
#include <cstdio>
#include <rapidjson/filereadstream.h>
#include <rapidjson/reader.h>

struct count : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, count> {
    unsigned long events = 0;
    bool Default()
    {
        events++;
        return true;
    }
};

int main(int argc, char **argv)
{
    static char chunk[256 * 1024];
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : nullptr;
    if (!f) {
        return 1;
    }
    rapidjson::FileReadStream in(f, chunk, sizeof chunk);
    rapidjson::Reader reader;
    count c;
    bool bad = reader.Parse(in, c).IsError();
    printf("%lu events\n", c.events);
    fclose(f);
    return bad;
}
