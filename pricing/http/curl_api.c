/* Loads libcurl with dlopen and fills the table of curl_api.h. Both builds that Debian ships are
 * tried: OpenSSL's, then GnuTLS's. */
#include "curl_api.h"
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#ifndef GT_VERSION
#define GT_VERSION "0.1"
#endif

#define OLDEST_VERSION 0x075500 /* 7.85.0: CURLOPT_PROTOCOLS_STR */

static const char *const libraries[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};

struct symbol {
    const char *name;
    size_t offset;
};
#define SYMBOL(prefix, field)                                                                      \
    {                                                                                              \
        "curl_" prefix #field, offsetof(struct curl_api, field)                                    \
    }
static const struct symbol symbols[] = {
    SYMBOL("", global_init),         SYMBOL("", global_cleanup), SYMBOL("", version_info),
    SYMBOL("", easy_init),           SYMBOL("", easy_setopt),    SYMBOL("", easy_getinfo),
    SYMBOL("", easy_pause),          SYMBOL("", easy_cleanup),   SYMBOL("", easy_strerror),
    SYMBOL("", multi_init),          SYMBOL("", multi_setopt),   SYMBOL("", multi_add_handle),
    SYMBOL("", multi_remove_handle), SYMBOL("", multi_perform),  SYMBOL("", multi_poll),
    SYMBOL("", multi_info_read),     SYMBOL("", multi_cleanup),  SYMBOL("", multi_strerror),
    SYMBOL("", slist_append),        SYMBOL("", slist_free_all),
};

static int fill(struct curl_api *api, struct gt_error *err)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *p = dlsym(api->handle, symbols[i].name);
        if (!p) {
            return gt_fail(err, GT_EUNSUPPORTED, "libcurl",
                           "the installed libcurl lacks %s; 7.85 or newer is needed",
                           symbols[i].name);
        }
        memcpy((char *)api + symbols[i].offset, &p, sizeof p);
    }
    const curl_version_info_data *v = api->version_info(CURLVERSION_NOW);
    if (v->version_num < OLDEST_VERSION) {
        return gt_fail(err, GT_EUNSUPPORTED, "libcurl",
                       "the installed libcurl is %s; 7.85 or newer is needed", v->version);
    }
    return 0;
}

int curl_api_load(struct curl_api *api, struct gt_error *err)
{
    *api = (struct curl_api){0};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !api->handle; i++) {
        api->handle = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
    }
    if (!api->handle) {
        return gt_fail(err, GT_EUNSUPPORTED, "libcurl",
                       "libcurl.so.4 is not installed (Debian: apt install libcurl4); `gputier "
                       "import` works without it");
    }
    int rc = fill(api, err);
    if (rc != 0) {
        return rc;
    }
    if (api->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        return gt_fail(err, GT_ENET, "libcurl", "libcurl could not be initialised");
    }
    return 0;
}

void curl_api_unload(struct curl_api *api)
{
    if (api->handle && api->global_cleanup) {
        api->global_cleanup();
    }
    *api = (struct curl_api){0};
}

void curl_transport(const struct curl_api *api, CURL *h)
{
    CURLcode (*set)(CURL *, CURLoption, ...) = api->easy_setopt;
    set(h, CURLOPT_PROTOCOLS_STR, "http,https");
    set(h, CURLOPT_FOLLOWLOCATION, 0L);
    set(h, CURLOPT_NOSIGNAL, 1L);
    set(h, CURLOPT_QUICK_EXIT, 1L); /* a slow resolver must not hold up Ctrl-C */
    set(h, CURLOPT_SSL_VERIFYPEER, 1L);
    set(h, CURLOPT_SSL_VERIFYHOST, 2L);
    const char *ca = getenv("CURL_CA_BUNDLE");
    ca = ca && *ca ? ca : getenv("SSL_CERT_FILE");
    if (ca && *ca) {
        set(h, CURLOPT_CAINFO, ca);
    }
    set(h, CURLOPT_USERAGENT, "gputier/" GT_VERSION);
    set(h, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
}
