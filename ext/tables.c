/* tables.c - the tables to which satellites add rows. Meson writes ext_rows.h by the option ext. */
#include "embed/embed.h"
#include "ext_rows.h"

#include "embed/reranker.h"
#include "surface/common/dialects.h"
#include "surface/files/files.h"
#include "surface/mcp/mcp.h"
#include "surface/surface.h"

#define SURFACE(name) extern const struct surface name;
#define SURFACE_ROW(name) &name,
EXT_SURFACES(SURFACE)

/* The first one words failures that belong to no path, such as bytes that are no HTTP. Where
 * several could word a 404, the earlier one does. For the rest the order means nothing: the router
 * finds the most literal path. */
const struct surface *const surfaces[] = {CORE_SURFACES EXT_SURFACES(SURFACE_ROW) NULL};

#define TOOLS(name) extern const struct tool name[];
#define TOOLS_ROW(name) name,
EXT_TOOLS(TOOLS)

const struct tool *const tool_tables[] = {memory_tools, file_tools, EXT_TOOLS(TOOLS_ROW) NULL};

#define LOCAL_KIND(name) extern const struct local_kind name;
#define LOCAL_KIND_ROW(name) &name,
EXT_LOCAL_KINDS(LOCAL_KIND)

const struct local_kind *const local_kinds[] = {EXT_LOCAL_KINDS(LOCAL_KIND_ROW) NULL};

#if EXT_OTLP
extern const struct trace_exporter otlp_exporter;
const struct trace_exporter *const trace_exporter = &otlp_exporter;
#else
const struct trace_exporter *const trace_exporter = NULL;
#endif

#if EXT_MODELS
extern const struct reranking_kind local_cross_encoder;
const struct reranking_kind *const reranking_kind = &local_cross_encoder;
extern const struct model_card local_cards[];
const struct model_card *const model_cards = local_cards;
#else
const struct reranking_kind *const reranking_kind = NULL;
const struct model_card *const model_cards = &(const struct model_card){0};
#endif
