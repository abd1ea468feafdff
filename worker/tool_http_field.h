/* tool_http_field.h - the members of "run.http", one reader a kind. Used through tool_http.h.
 *
 * reading.own is the struct template_use of the request that is read. */
#pragma once

#include "worker/tool_field.h"

field_fn http_read_method;
field_fn http_read_url;
field_fn http_read_headers;
field_fn http_read_body;
field_fn http_read_pointer;
field_fn http_read_total;
field_fn http_read_states;
field_fn http_read_count;
field_fn http_read_file;
