/* offer.h - what wrapped MCP servers offer beside tools: resources, templates of them, prompts.
 *
 * One set holds what all live workers announced. Items of one kind are sorted by their key, so that
 * every broker pages through them alike; of two servers that list the same one the first by name
 * counts. The servers' own bytes are kept, and given out, as they are.
 */
#pragma once

#include "common/registry.h"

#include <stdbool.h>
#include <stdint.h>

enum offer_kind { OFFER_RESOURCE, OFFER_TEMPLATE, OFFER_PROMPT, OFFER_KINDS };

/* A wrapped server. */
struct offer {
    char *server; /* its name */
    char *job; /* what its jobs are called: '@' and the name */
    char *prefix; /* before the names of its prompts */
    uint64_t attempts;
    bool resources;
    bool subscribe;
    bool prompts;
    bool completions;
    bool conflict; /* two live workers differ */
    char *definition; /* what the items point into */
};

struct offer_item {
    char *key; /* uri, uriTemplate or name */
    struct span raw;
    const struct offer *of;
};

struct offers;

struct offers *offers_new(void);
void offers_free(struct offers *o); /* NULL is harmless */
/* An entry of the registry whose name begins with '@'. What other processes wrote is checked: what
 * is no announcement is left out, and so is an item without its key. */
void offers_add(struct offers *o, const struct registry_tool *r);
void offers_sort(struct offers *o); /* after the last was added, before anything is asked */

size_t offers_servers(const struct offers *o);
const struct offer *offers_server(const struct offers *o, size_t i);
size_t offers_count(const struct offers *o, enum offer_kind kind);
const struct offer_item *offers_at(const struct offers *o, enum offer_kind kind, size_t i);
/* The index of the first item whose key sorts after `key`. */
size_t offers_after(const struct offers *o, enum offer_kind kind, struct span key);
/* NULL: no such item. */
const struct offer_item *offers_find(const struct offers *o, enum offer_kind kind, struct span key);
/* Whose resource it is: who lists it; else who has a template that it fits; else who lists others
 * of the same scheme; of several the first by name. NULL: nobody's. */
const struct offer *offers_route(const struct offers *o, struct span uri);
/* Do both list the same of that kind, byte for byte? */
bool offers_same(const struct offers *a, const struct offers *b, enum offer_kind kind);
