/* libcurl as a table of functions, loaded when the first transfer needs it: linking it costs
 * every command 14 ms of start-up. Needs libcurl 7.85 (protocol lists by name). */
#ifndef GPUTIER_CURL_API_H
#define GPUTIER_CURL_API_H
#include "gputier/error.h"
#include <curl/curl.h>

struct curl_api {
    void *handle;
    CURLcode (*global_init)(long flags);
    void (*global_cleanup)(void);
    curl_version_info_data *(*version_info)(CURLversion age);
    CURL *(*easy_init)(void);
    CURLcode (*easy_setopt)(CURL *h, CURLoption option, ...);
    CURLcode (*easy_getinfo)(CURL *h, CURLINFO info, ...);
    CURLcode (*easy_pause)(CURL *h, int bits);
    void (*easy_cleanup)(CURL *h);
    const char *(*easy_strerror)(CURLcode code);
    CURLM *(*multi_init)(void);
    CURLMcode (*multi_setopt)(CURLM *m, CURLMoption option, ...);
    CURLMcode (*multi_add_handle)(CURLM *m, CURL *h);
    CURLMcode (*multi_remove_handle)(CURLM *m, CURL *h);
    CURLMcode (*multi_perform)(CURLM *m, int *running);
    CURLMcode (*multi_poll)(CURLM *m, struct curl_waitfd *fds, unsigned n, int timeout_ms,
                            int *ready);
    CURLMsg *(*multi_info_read)(CURLM *m, int *left);
    CURLMcode (*multi_cleanup)(CURLM *m);
    const char *(*multi_strerror)(CURLMcode code);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *line);
    void (*slist_free_all)(struct curl_slist *list);
};

/* Fills *api; the library stays loaded until the process ends (it may own threads). */
int curl_api_load(struct curl_api *api, struct gt_error *err) GT_CHECK;
void curl_api_unload(struct curl_api *api);
/* What every request is sent with: http and https alone, no redirects, certificates checked, no
 * netrc, our name. */
void curl_transport(const struct curl_api *api, CURL *h);

#endif
