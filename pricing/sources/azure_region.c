/* Regions of Azure: the public ones by their armRegionName and by the location that rows show
 * beside it. The price list also has regions of Azure Government, of China and of operators'
 * clouds at other rates: a list of those that count, not of those that do not, keeps them out. */
#include "azure_retail.h"
#include <ctype.h>
#include <string.h>

static const struct {
    const char *code, *location;
} regions[] = {
    {"australiacentral", "AU Central"},
    {"australiacentral2", "AU Central 2"},
    {"australiaeast", "AU East"},
    {"australiasoutheast", "AU Southeast"},
    {"austriaeast", "AT East"},
    {"belgiumcentral", "BE Central"},
    {"brazilsouth", "BR South"},
    {"brazilsoutheast", "BR Southeast"},
    {"canadacentral", "CA Central"},
    {"canadaeast", "CA East"},
    {"centralindia", "IN Central"},
    {"centralus", "US Central"},
    {"chilecentral", "CL Central"},
    {"denmarkeast", "Denmark East"},
    {"eastasia", "AP East"},
    {"eastus", "US East"},
    {"eastus2", "US East 2"},
    {"eastus3", "US East 3"},
    {"finlandcentral", "FI Central"},
    {"francecentral", "FR Central"},
    {"francesouth", "FR South"},
    {"germanynorth", "DE North"},
    {"germanywestcentral", "DE West Central"},
    {"greececentral", "GR Central"},
    {"indiasouthcentral", "IN South Central"},
    {"indonesiacentral", "ID Central"},
    {"israelcentral", "IL Central"},
    {"italynorth", "IT North"},
    {"japaneast", "JA East"},
    {"japanwest", "JA West"},
    {"jioindiacentral", "IN Central Jio"},
    {"jioindiawest", "IN West Jio"},
    {"koreacentral", "KR Central"},
    {"koreasouth", "KR South"},
    {"malaysiasouth", "MY South"},
    {"malaysiawest", "MY West"},
    {"mexicocentral", "MX Central"},
    {"newzealandnorth", "NZ North"},
    {"northcentralus", "US North Central"},
    {"northeurope", "EU North"},
    {"norwayeast", "NO East"},
    {"norwaywest", "NO West"},
    {"polandcentral", "PL Central"},
    {"qatarcentral", "QA Central"},
    {"saudiarabiaeast", "SA East"},
    {"singaporecentral", "Singapore Central"},
    {"southafricanorth", "ZA North"},
    {"southafricawest", "ZA West"},
    {"southcentralus", "US South Central"},
    {"southcentralus2", "US South Central 2"},
    {"southeastasia", "AP Southeast"},
    {"southeastus", "US Southeast"},
    {"southindia", "IN South"},
    {"spaincentral", "ES Central"},
    {"swedencentral", "SE Central"},
    {"swedensouth", "SE South"},
    {"switzerlandnorth", "CH North"},
    {"switzerlandwest", "CH West"},
    {"taiwannorth", "TW North"},
    {"taiwannorthwest", "TW Northwest"},
    {"uaecentral", "AE Central"},
    {"uaenorth", "AE North"},
    {"uksouth", "UK South"},
    {"ukwest", "UK West"},
    {"westcentralus", "US West Central"},
    {"westeurope", "EU West"},
    {"westindia", "IN West"},
    {"westus", "US West"},
    {"westus2", "US West 2"},
    {"westus3", "US West 3"},
};
#define N (sizeof regions / sizeof *regions)

/* Same letters and digits in any case, blanks left out: "West US 3" is westus3. */
static bool same_word(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, " ");
        b += strspn(b, " ");
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b)) {
            return false;
        }
        if (*a == '\0') {
            return true;
        }
    }
}

const char *azure_region_at(size_t i)
{
    return i < N ? regions[i].code : NULL;
}

const char *azure_region_of(const char *arm, const char *location)
{
    for (size_t i = 0; i < N; i++) {
        if (*arm ? same_word(regions[i].code, arm) || same_word(regions[i].location, arm)
                 : same_word(regions[i].location, location)) {
            return regions[i].code;
        }
    }
    return NULL;
}

bool azure_region_apart(const char *arm)
{
    static const char *const apart[] = {"usgov", "usdod",          "ussec",           "usnat",
                                        "china", "germanycentral", "germanynortheast"};
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
        if (strncmp(arm, apart[i], strlen(apart[i])) == 0) {
            return true;
        }
    }
    return false;
}

bool azure_has_region(const char *code)
{
    return azure_region_of(code, "") != NULL || azure_region_apart(code);
}
