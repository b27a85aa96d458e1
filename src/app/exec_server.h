/* SPDX-License-Identifier: MIT
 *
 * Reads the options of `exec --server`.
 */
#ifndef AB_APP_EXEC_SERVER_H
#define AB_APP_EXEC_SERVER_H

#include "app/request.h"
#include "program/server.h"

/* Fills *server from the request, whose strings it borrows. The caller frees server->metrics, also
 * after a failure. Fails with AB_USAGE if an option is invalid or contradicts another. */
enum ab_status ab_exec_server_read(const struct ab_exec_request *asked, struct ab_server *server,
                                   struct ab_err *err);

#endif
