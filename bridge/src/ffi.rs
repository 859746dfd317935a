//! What both halves share: counted texts across the border, and the guard of every entry point.
use std::any::Any;
use std::panic::{catch_unwind, set_hook, AssertUnwindSafe};
use std::ptr::null_mut;
use std::sync::Once;

/// Bytes that the caller owns (HoneView).
#[repr(C)]
pub struct View {
    data: *const u8,
    size: usize,
}

impl View {
    /// # Safety
    /// `data` must point to `size` bytes that outlive the result.
    pub unsafe fn bytes<'a>(&self) -> &'a [u8] {
        if self.size == 0 {
            return &[];
        }
        std::slice::from_raw_parts(self.data, self.size)
    }

    /// # Safety
    /// As for bytes().
    pub unsafe fn text<'a>(&self) -> Result<&'a str, String> {
        std::str::from_utf8(self.bytes())
            .map_err(|e| format!("the text is not UTF-8: byte {} is out of place", e.valid_up_to()))
    }
}

/// Bytes that this library made and hone_text_free() takes back (HoneText).
#[repr(C)]
pub struct Text {
    data: *mut u8,
    size: usize,
}

impl Text {
    pub const NONE: Text = Text { data: null_mut(), size: 0 };

    pub fn new(bytes: impl Into<Box<[u8]>>) -> Text {
        let (data, size) = hand_over(bytes.into());
        Text { data, size }
    }
}

/// Gives a slice away; take_back() with the same two numbers frees it. Never null.
pub fn hand_over<T>(items: Box<[T]>) -> (*mut T, usize) {
    let size = items.len();
    (Box::into_raw(items) as *mut T, size)
}

/// # Safety
/// The numbers must come from hand_over(), once; null is nothing.
pub unsafe fn take_back<T>(data: *mut T, size: usize) {
    if !data.is_null() {
        drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(data, size)));
    }
}

#[no_mangle]
pub unsafe extern "C" fn hone_text_free(text: Text) {
    take_back(text.data, text.size);
}

/// Runs `body`; its error, or its panic, becomes the one-line text that the caller gets.
pub fn guard(body: impl FnOnce() -> Result<(), String>) -> Text {
    static SILENCE: Once = Once::new();
    SILENCE.call_once(|| set_hook(Box::new(|_| {})));
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Text::NONE,
        Ok(Err(message)) => Text::new(one_line(&message).into_bytes()),
        Err(panic) => Text::new(one_line(&describe(panic)).into_bytes()),
    }
}

fn describe(panic: Box<dyn Any + Send>) -> String {
    let what = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    format!("the library gave up: {what}")
}

/// Foreign text may stand in a message: one printable line of a sane length is left.
fn one_line(message: &str) -> String {
    let words = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = words.chars().map(|c| if c.is_control() { '?' } else { c }).take(300).collect();
    if line.is_empty() { "no message".into() } else { line }
}
