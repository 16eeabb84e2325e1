/* Which readers this program has: a digest of their source text, made by the build, so that it
 * changes with them and nobody has to remember to. */
#include "store_impl.h"

const char *parsers_digest(void)
{
    static const char digest[] =
#include "pricing/store/parsers.h"
        ;
    return digest;
}
