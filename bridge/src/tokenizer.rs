//! Hugging Face tokenizers: a tokenizer.json, its ids, and what a decoder needs to know.
use crate::ffi::{guard, hand_over, hone_text_free, take_back, Text, View};
use serde_json::json;
use tokenizers::{
    Encoding, ModelWrapper, PostProcessor, PostProcessorWrapper, Tokenizer,
};

pub struct HoneTokenizer {
    /// Without its post-processor, which may trim spaces off the spans of tokens.
    inner: Tokenizer,
    post: Option<PostProcessorWrapper>,
    /// One more than the largest id.
    size: usize,
    /// Regular expressions cut the text into words.
    cuts_by_regex: bool,
}

/// The regular expressions give up in silence on a word of a million characters, and the rest of
/// the text stays one word.
const LONGEST_WORD: usize = 500_000;

#[repr(C)]
pub struct Token {
    id: u32,
    start: u32,
    end: u32,
}

#[repr(C)]
pub struct Tokens {
    data: *mut Token,
    size: usize,
}

#[repr(C)]
pub struct Vocabulary {
    texts: Text,
    ends: *mut u32,
    size: usize,
}

#[no_mangle]
pub unsafe extern "C" fn hone_tokenizer_new(json: View, out: *mut *mut HoneTokenizer) -> Text {
    guard(|| {
        let tokenizer = HoneTokenizer::new(json.bytes())?;
        *out = Box::into_raw(Box::new(tokenizer));
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn hone_tokenizer_free(tokenizer: *mut HoneTokenizer) {
    if !tokenizer.is_null() {
        drop(Box::from_raw(tokenizer));
    }
}

#[no_mangle]
pub unsafe extern "C" fn hone_tokenizer_encode(
    tokenizer: *const HoneTokenizer,
    text: View,
    special: bool,
    spans: bool,
    out: *mut Tokens,
) -> Text {
    guard(|| {
        let tokens = (*tokenizer).encode(text.text()?, special, spans)?;
        let (data, size) = hand_over(tokens.into_boxed_slice());
        *out = Tokens { data, size };
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn hone_tokens_free(tokens: Tokens) {
    take_back(tokens.data, tokens.size);
}

#[no_mangle]
pub unsafe extern "C" fn hone_tokenizer_id(tokenizer: *const HoneTokenizer, token: View) -> i64 {
    let mut id = -1;
    let failure = guard(|| {
        id = (*tokenizer).inner.token_to_id(token.text()?).map_or(-1, i64::from);
        Ok(())
    });
    hone_text_free(failure);
    id
}

#[no_mangle]
pub unsafe extern "C" fn hone_tokenizer_vocabulary(
    tokenizer: *const HoneTokenizer,
    out: *mut Vocabulary,
) -> Text {
    guard(|| {
        let (texts, ends) = (*tokenizer).vocabulary()?;
        let texts = Text::new(texts.into_bytes());
        let (ends, size) = hand_over(ends.into_boxed_slice());
        *out = Vocabulary { texts, ends, size };
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn hone_vocabulary_free(vocabulary: Vocabulary) {
    take_back(vocabulary.ends, vocabulary.size);
    hone_text_free(vocabulary.texts);
}

#[no_mangle]
pub unsafe extern "C" fn hone_tokenizer_describe(
    tokenizer: *const HoneTokenizer,
    out: *mut Text,
) -> Text {
    guard(|| {
        *out = Text::new((*tokenizer).describe()?.into_bytes());
        Ok(())
    })
}

impl HoneTokenizer {
    fn new(json: &[u8]) -> Result<Self, String> {
        let mut inner = Tokenizer::from_bytes(json).map_err(|e| e.to_string())?;
        inner.with_padding(None);
        inner.with_truncation(None).map_err(|e| e.to_string())?;
        let post = inner.get_post_processor().cloned();
        inner.with_post_processor(None::<PostProcessorWrapper>);
        if matches!(inner.get_model(), ModelWrapper::BPE(bpe) if bpe.dropout.is_some()) {
            return Err("the model has a dropout: its ids would change from call to call".into());
        }
        let largest = inner.get_vocab(true).into_values().max();
        let size = largest.map_or(0, |id| id as usize + 1);
        if size > json.len() {
            return Err(format!("the id {} is too large for a file of this size", size - 1));
        }
        let pre = serde_json::to_string(&inner.get_pre_tokenizer()).map_err(|e| e.to_string())?;
        let cuts_by_regex = pre.contains("\"Regex\"") || pre.contains("\"use_regex\":true");
        Ok(Self { inner, post, size, cuts_by_regex })
    }

    fn encode(&self, text: &str, special: bool, spans: bool) -> Result<Vec<Token>, String> {
        if u32::try_from(text.len()).is_err() {
            return Err("a text of 4 GiB or more; split it".into());
        }
        let long = self.cuts_by_regex && text.len() > LONGEST_WORD;
        let encoding = match spans || long {
            true => self.inner.encode(text, false),
            false => self.inner.encode_fast(text, false),
        };
        let mut encoding = encoding.map_err(|e| e.to_string())?;
        if long && longest_word(&encoding) > LONGEST_WORD {
            return Err(format!("{LONGEST_WORD} bytes without a place to cut; break the text up"));
        }
        if let (true, Some(post)) = (special, &self.post) {
            encoding = post.process(encoding, None, true).map_err(|e| e.to_string())?;
        }
        // A post-processor may add any id.
        match encoding.get_ids().iter().find(|&&id| id as usize >= self.size) {
            Some(id) => Err(format!("the id {id} is outside the vocabulary of {}", self.size)),
            None => Ok(tokens(&encoding)),
        }
    }

    fn vocabulary(&self) -> Result<(String, Vec<u32>), String> {
        let mut texts = String::new();
        let mut ends = Vec::with_capacity(self.size);
        for id in 0..self.size {
            if let Some(token) = self.inner.id_to_token(id as u32) {
                texts.push_str(&token);
            }
            ends.push(u32::try_from(texts.len()).map_err(|_| "a vocabulary of 4 GiB or more")?);
        }
        Ok((texts, ends))
    }

    fn describe(&self) -> Result<String, String> {
        let mut added: Vec<_> = self.inner.get_added_tokens_decoder().into_iter().collect();
        added.sort_by_key(|(id, _)| *id);
        let added: Vec<_> = added
            .into_iter()
            .map(|(id, t)| json!({"id": id, "content": t.content, "special": t.special}))
            .collect();
        let decoder = serde_json::to_value(self.inner.get_decoder()).map_err(|e| e.to_string())?;
        Ok(json!({"decoder": decoder, "added": added}).to_string())
    }
}

/// In bytes of the text.
fn longest_word(encoding: &Encoding) -> usize {
    let words = encoding.get_word_ids().iter().zip(encoding.get_offsets());
    let (mut word, mut start, mut longest) = (None, 0, 0);
    for (id, &(from, to)) in words {
        if *id != word {
            (word, start) = (*id, from);
        }
        longest = longest.max(to.saturating_sub(start));
    }
    longest
}

fn tokens(encoding: &Encoding) -> Vec<Token> {
    let spans = encoding.get_offsets().iter();
    let ids = encoding.get_ids().iter();
    ids.zip(spans)
        .map(|(&id, &(start, end))| Token { id, start: start as u32, end: end as u32 })
        .collect()
}
