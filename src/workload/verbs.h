/* SPDX-License-Identifier: MIT
 *
 * Every verb and every option of verbs, once: the enums, the keys of the language, the table of
 * what goes with what and the error texts expand from here.
 */
#ifndef AB_WORKLOAD_VERBS_H
#define AB_WORKLOAD_VERBS_H

/* X(P, NAME, key, options, kinds of sets); P as given to AB_VERBS. */
#define AB_VERBS(X, P) \
    X(P, ALLOC, alloc, AB_OPT_AT | AB_OPT_COUNT | AB_OPT_SIZE | AB_OPT_ALIGN | AB_OPT_TOUCH, \
      SLOTS | LIST | REGION) \
    X(P, FREE, free, AB_OPT_AT | AB_OPT_ORDER | AB_OPT_COUNT | AB_OPT_FRACTION, SLOTS | LIST) \
    X(P, REPLACE, replace, \
      AB_OPT_AT | AB_OPT_ORDER | AB_OPT_COUNT | AB_OPT_FRACTION | AB_OPT_SIZE | AB_OPT_ALIGN | \
          AB_OPT_TOUCH, \
      SLOTS | LIST) \
    X(P, RESIZE, resize, \
      AB_OPT_AT | AB_OPT_ORDER | AB_OPT_COUNT | AB_OPT_FRACTION | AB_OPT_SIZE | AB_OPT_TOUCH, \
      SLOTS | LIST | REGION) \
    X(P, REPEAT, repeat, AB_OPT_DO, 0) \
    X(P, TOGGLE, toggle, AB_OPT_AT | AB_OPT_COUNT | AB_OPT_SIZE | AB_OPT_ALIGN | AB_OPT_TOUCH, \
      SLOTS) \
    X(P, EXCHANGE, exchange, \
      AB_OPT_AT | AB_OPT_COUNT | AB_OPT_SIZE | AB_OPT_ALIGN | AB_OPT_TOUCH | AB_OPT_WITH | \
          AB_OPT_WITH_AT, \
      SLOTS) \
    X(P, RESET, reset, AB_OPT_ORDER, REGION) \
    X(P, SEND, send, \
      AB_OPT_AT | AB_OPT_ORDER | AB_OPT_COUNT | AB_OPT_SIZE | AB_OPT_ALIGN | AB_OPT_TOUCH | \
          AB_OPT_FROM | AB_OPT_TO, \
      QUEUE) \
    X(P, RECV, recv, AB_OPT_AT | AB_OPT_COUNT | AB_OPT_THEN | AB_OPT_INTO, QUEUE) \
    X(P, SHUFFLE, shuffle, 0, SLOTS) \
    X(P, ACCESS, access, AB_OPT_AT | AB_OPT_ORDER | AB_OPT_COUNT | AB_OPT_FRACTION | AB_OPT_MODE, \
      SLOTS | LIST | REGION)

/* X(P, NAME, key); `do` is a list and stands with the lists. */
#define AB_VERB_OPTIONS(X, P) \
    X(P, AT, at) \
    X(P, ORDER, order) \
    X(P, COUNT, count) \
    X(P, FRACTION, fraction) \
    X(P, SIZE, size) \
    X(P, ALIGN, align) \
    X(P, TOUCH, touch) \
    X(P, FROM, from) \
    X(P, TO, to) \
    X(P, THEN, then) \
    X(P, INTO, into) \
    X(P, WITH, with) \
    X(P, WITH_AT, with_at) \
    X(P, MODE, mode)

#endif
