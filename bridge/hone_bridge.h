/* The C face of the Rust bridge: Hugging Face tokenizers, minijinja and parquet.
 *
 * Every function that can fail returns a HoneText: its data is NULL when all went well, else it
 * holds one line that says what went wrong, and no out-parameter was touched. Whatever is returned
 * or handed out is the caller's, to be given back to the matching hone_*_free. Texts are UTF-8 and
 * counted, not ended by 0. Panics are caught inside; nothing is printed. Handles may be shared by
 * threads: all calls but the *_free and hone_parquet_next take them read-only.
 */
#ifndef HONE_BRIDGE_H
#define HONE_BRIDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char* data;
  size_t size;
} HoneView; /* the caller's own bytes; data may be NULL when size is 0 */

typedef struct {
  char* data;
  size_t size;
} HoneText;

void hone_text_free(HoneText text);

/* ---- tokenizers ---- */

typedef struct HoneTokenizer HoneTokenizer;

/* From the text of a tokenizer.json. Its truncation and padding are dropped. */
HoneText hone_tokenizer_new(HoneView json, HoneTokenizer** out);
void hone_tokenizer_free(HoneTokenizer* tokenizer);

typedef struct {
  uint32_t id;
  uint32_t start, end; /* bytes of the text that the token stands for; 0, 0 when it was added */
} HoneToken;

typedef struct {
  HoneToken* data;
  size_t size;
} HoneTokens;

/* `special` runs the tokenizer's post-processor (BOS and the like). `spans` fills start and end. */
HoneText hone_tokenizer_encode(const HoneTokenizer* tokenizer, HoneView text, bool special,
                               bool spans, HoneTokens* out);
void hone_tokens_free(HoneTokens tokens);

/* The id of a token as the vocabulary spells it, or -1. */
int64_t hone_tokenizer_id(const HoneTokenizer* tokenizer, HoneView token);

/* The text of every id below `size`, one after another: id i ends at ends[i]. An id that nothing
 * has is empty. */
typedef struct {
  HoneText texts;
  uint32_t* ends;
  size_t size;
} HoneVocabulary;

HoneText hone_tokenizer_vocabulary(const HoneTokenizer* tokenizer, HoneVocabulary* out);
void hone_vocabulary_free(HoneVocabulary vocabulary);

/* JSON: {"decoder": its description or null, "added": [{"id", "content", "special"} ...]}. */
HoneText hone_tokenizer_describe(const HoneTokenizer* tokenizer, HoneText* out);

/* ---- chat templates ---- */

typedef struct HoneTemplate HoneTemplate;

/* Parses Jinja source with the settings and functions that chat templates are written for. */
HoneText hone_template_new(HoneView source, HoneTemplate** out);
void hone_template_free(HoneTemplate* chat_template);

typedef struct {
  uint64_t fuel;       /* one an instruction, one for each 64 bytes made or read */
  size_t output_bytes; /* most bytes of the result */
  int64_t now;         /* what strftime_now() tells: seconds since 1970, UTC */
} HoneRenderLimits;

/* `context` is a JSON object: the template's variables. */
HoneText hone_template_render(const HoneTemplate* chat_template, HoneView context,
                              HoneRenderLimits limits, HoneText* out);

/* ---- parquet ---- */

typedef struct HoneParquet HoneParquet;

HoneText hone_parquet_open(HoneView path, HoneParquet** out);
void hone_parquet_free(HoneParquet* parquet);

/* The next row as a JSON object, its columns in order; data is NULL after the last. An error is
 * final. */
HoneText hone_parquet_next(HoneParquet* parquet, HoneText* out);

#ifdef __cplusplus
}
#endif

#endif
