/* params.h - what several methods read from their params in the same way. */
#pragma once

#include "broker/req.h"

/* params.taskId as an id of ours in q->... A missing, mistyped or impossible one fails the request
 * (T-86: -32602, the same answer as for an unknown task) and returns false. id points into the
 * body. */
bool params_task_id(struct req *q, struct span *id);

/* params.cursor opened for this principal and list: returns false when it is no good, having
 * failed the request (T-77). An absent one leaves *plain empty. */
bool params_cursor(struct req *q, const char *list, struct buf *plain);
/* Does a page take this entry, and after it what ends every page? The first always fits. */
bool params_page_takes(const struct buf *page, struct span entry);
/* Adds ,"nextCursor":"..." */
void params_next_cursor(struct req *q, struct buf *out, const char *list, struct span plain);
