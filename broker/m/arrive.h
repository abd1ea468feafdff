/* arrive.h - a request of the stateless dialect, checked in the order in which its errors are to
 * be told:
 *
 *     _meta is complete -> header and body name one revision -> we speak it -> Mcp-Method
 *     -> the method is there -> Mcp-Name -> the extension is declared -> scope -> method
 */
#pragma once

#include "broker/req.h"

/* Is this message one of the stateless dialect (Z-02)? Its envelope has been read. */
bool m_speaks(const struct req *q);
/* Takes it. */
void m_arrive(struct req *q);
/* A client that needs what it did not declare (S-04, X-04): -32021 with the extension named. */
void m_fail_extension(struct req *q);
