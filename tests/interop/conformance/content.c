/* Results of every kind, and tools that only have to be listed. */
#include "tests/interop/conformance/kit.h"

#define PNG \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg" \
    "gg=="
#define WAV "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
#define TEXT(text) "{\"type\":\"text\",\"text\":\"" text "\"}"
#define IMAGE "{\"type\":\"image\",\"data\":\"" PNG "\",\"mimeType\":\"image/png\"}"
#define RESOURCE(uri, mime, text) \
    "{\"type\":\"resource\",\"resource\":{\"uri\":\"" uri "\",\"mimeType\":\"" mime \
    "\",\"text\":\"" text "\"}}"

static char simple[] = "{\"content\":[" TEXT("This is a simple text response for testing.") "]}";
static char image[] = "{\"content\":[" IMAGE "]}";
static char audio[] =
    "{\"content\":[{\"type\":\"audio\",\"data\":\"" WAV "\",\"mimeType\":\"audio/wav\"}]}";
static char embedded[] = "{\"content\":[" RESOURCE("test://embedded-resource", "text/plain",
                                                   "This is an embedded resource content.") "]}";
static char mixed[] = "{\"content\":[" TEXT("Multiple content types test:") "," IMAGE "," RESOURCE(
    "test://mixed-content-resource", "application/json",
    "{\\\"test\\\":\\\"data\\\",\\\"value\\\":123}") "]}";

static void on_error(struct errand_job *job, void *arg)
{
    (void)arg;
    errand_error(job, "This tool intentionally returns an error for testing");
}

/* What must come back as it stands: every group of words that the suite looks for. */
static const char schema_2020[] = DECLARE(
    "json_schema_2020_12_tool", "A schema with the words of JSON Schema 2020-12.",
    "\"inputSchema\":{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
    "\"type\":\"object\",\"$defs\":{\"address\":{\"$anchor\":\"addressDef\",\"type\":\"object\","
    "\"properties\":{\"street\":{\"type\":\"string\"},\"city\":{\"type\":\"string\"}}}},"
    "\"properties\":{\"name\":{\"type\":\"string\"},\"address\":{\"$ref\":\"#/$defs/address\"},"
    "\"contactMethod\":{\"type\":\"string\",\"enum\":[\"phone\",\"email\"]},"
    "\"phone\":{\"type\":\"string\"},\"email\":{\"type\":\"string\"}},"
    "\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":[\"email\"]}]}],"
    "\"if\":{\"properties\":{\"contactMethod\":{\"const\":\"phone\"}},"
    "\"required\":[\"contactMethod\"]},\"then\":{\"required\":[\"phone\"]},"
    "\"else\":{\"required\":[\"email\"]},\"additionalProperties\":false}");

static const struct errand_tool tools[] = {
    /* The suite calls the first tool of the list without arguments. */
    {DECLARE("a_first_tool", "Answers with a simple text.", NO_ARGUMENTS), on_always, simple},
    {DECLARE("test_simple_text", "Answers with a simple text.", NO_ARGUMENTS), on_always, simple},
    {DECLARE("test_image_content", "Answers with an image.", NO_ARGUMENTS), on_always, image},
    {DECLARE("test_audio_content", "Answers with a sound.", NO_ARGUMENTS), on_always, audio},
    {DECLARE("test_embedded_resource", "Answers with a resource.", NO_ARGUMENTS), on_always,
     embedded},
    {DECLARE("test_multiple_content_types", "Answers with blocks of several kinds.", NO_ARGUMENTS),
     on_always, mixed},
    {DECLARE("test_error_handling", "Always fails.", NO_ARGUMENTS), on_error, NULL},
    {schema_2020, on_always, simple},
    {DECLARE("test_x_mcp_header", "Has an argument that is repeated in a header.",
             "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"region\":{\"type\":"
             "\"string\",\"x-mcp-header\":\"Region\"}}}"),
     on_always, simple},
    {DECLARE("test_missing_capability", "Needs a client whose model can be asked.",
             NO_ARGUMENTS ",\"requires\":{\"sampling\":{}}"),
     on_always, simple},
};

const struct tool_list content_tools = {tools, COUNT_OF(tools)};
