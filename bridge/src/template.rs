//! Chat templates: minijinja, set up as the templates of model repositories expect it.
use crate::budget;
use crate::ffi::{guard, Text, View};
use crate::python;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind, Value};
use std::io;
use std::sync::Arc;

/// The environment is made anew for each render, because fuel and clock belong to it; the source
/// was parsed once to find its errors early.
#[derive(Clone)]
pub struct HoneTemplate {
    source: Arc<str>,
}

#[repr(C)]
pub struct Limits {
    fuel: u64,
    output_bytes: usize,
    now: i64,
}

const NAME: &str = "chat template";
const MAX_RECURSION: usize = 100;
const TOO_MUCH: &str = "the template does more work than is allowed";

const MAX_SOURCE: usize = 1 << 20;

/// The parser goes one call deeper for each `not` of "not not not x". Unused stack costs nothing.
const STACK: usize = 8 << 20;
const STACK_FACTOR: usize = 1 << 10;

/// What a template may hold, beside so many times its variables.
const MEMORY: usize = 64 << 20;
const MEMORY_FACTOR: usize = 32;

#[no_mangle]
pub unsafe extern "C" fn hone_template_new(source: View, out: *mut *mut HoneTemplate) -> Text {
    guard(|| {
        let source = source.text()?;
        if source.len() > MAX_SOURCE {
            return Err(format!("the template is longer than {MAX_SOURCE} bytes"));
        }
        let template = HoneTemplate { source: without_generation_tags(source).into() };
        template.within(0, |t| t.check())?;
        *out = Box::into_raw(Box::new(template));
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn hone_template_free(template: *mut HoneTemplate) {
    if !template.is_null() {
        drop(Box::from_raw(template));
    }
}

#[no_mangle]
pub unsafe extern "C" fn hone_template_render(
    template: *const HoneTemplate,
    context: View,
    limits: Limits,
    out: *mut Text,
) -> Text {
    guard(|| {
        let size = context.bytes().len();
        let context: serde_json::Value = serde_json::from_slice(context.bytes())
            .map_err(|e| format!("the template's variables are not JSON: {e}"))?;
        *out = Text::new((*template).within(size, move |t| t.render(context, limits))?);
        Ok(())
    })
}

impl HoneTemplate {
    /// `work` under the limits of a template with variables of `size` bytes.
    fn within<T: Send + 'static>(
        &self,
        size: usize,
        work: impl FnOnce(&HoneTemplate) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let memory = MEMORY + MEMORY_FACTOR * size;
        let stack = STACK + STACK_FACTOR * self.source.len();
        let template = self.clone();
        budget::within(memory, stack, move || work(&template))
            .unwrap_or_else(|budget::Over| Err(TOO_MUCH.into()))
    }

    fn check(&self) -> Result<(), String> {
        let environment = environment(Limits { fuel: 0, output_bytes: 0, now: 0 });
        let parsed = environment.template_from_named_str(NAME, &self.source);
        parsed.map(|_| ()).map_err(|e| describe(&e))
    }

    fn render(&self, context: serde_json::Value, limits: Limits) -> Result<Vec<u8>, String> {
        let mut out = Capped { bytes: Vec::new(), left: limits.output_bytes, full: false };
        let environment = environment(limits);
        let template = environment.template_from_named_str(NAME, &self.source);
        let rendered =
            template.and_then(|t| t.render_captured_to(Serde(context), &mut out).map(|_| ()));
        match rendered {
            Ok(()) => Ok(out.bytes),
            Err(_) if out.full => Err(format!("the output is longer than {} bytes", out.bytes.len())),
            Err(e) => Err(describe(&e)),
        }
    }
}

fn environment(limits: Limits) -> Environment<'static> {
    let mut env = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    env.set_syntax(syntax.expect("the delimiters are the usual ones"));
    env.set_fuel(Some(limits.fuel));
    env.set_recursion_limit(MAX_RECURSION);
    env.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    env.set_formatter(python::print);
    env.add_filter("string", python::string);
    env.add_filter("tojson", python::tojson);
    env.add_test("iterable", python::is_iterable);
    env.add_function("raise_exception", |message: String| -> Result<Value, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, format!("{RAISED}{message}")))
    });
    env.add_function("strftime_now", move |format: &str| python::strftime(format, limits.now));
    env
}

/// Marks an error as the template's own raise_exception().
const RAISED: &str = "\u{1}raised\u{1}";

fn describe(error: &Error) -> String {
    let mut cause = error;
    while let Some(source) = std::error::Error::source(cause).and_then(|s| s.downcast_ref()) {
        cause = source;
    }
    let detail = cause.detail().unwrap_or_default();
    if let Some(message) = detail.strip_prefix(RAISED) {
        return format!("the template refuses: {message}");
    }
    if error.kind() == ErrorKind::OutOfFuel || cause.kind() == ErrorKind::OutOfFuel {
        return TOO_MUCH.into();
    }
    let place = error.line().map_or(String::new(), |line| format!("line {line}: "));
    let colon = if detail.is_empty() { "" } else { ": " };
    format!("{place}{}{colon}{detail}", cause.kind())
}

/// A writer that refuses what does not fit.
struct Capped {
    bytes: Vec<u8>,
    left: usize,
    full: bool,
}

impl io::Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.left {
            self.full = true;
            return Err(io::Error::other("full"));
        }
        self.left -= bytes.len();
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// `{% generation %} ... {% endgeneration %}` marks the assistant's part for training. It prints
/// what is inside, so it becomes a condition that always holds, with the same white-space marks.
fn without_generation_tags(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find("{%") {
        let (before, tag) = rest.split_at(at);
        out.push_str(before);
        let Some(end) = tag.find("%}") else {
            rest = tag;
            break;
        };
        let inside = &tag[2..end];
        let (open, close) = (mark(inside.chars().next()), mark(inside.chars().next_back()));
        let middle = inside[open.len()..].strip_suffix(close).unwrap_or_default().trim();
        match middle {
            "generation" => out.push_str(&format!("{{%{open} if true {close}%}}")),
            "endgeneration" => out.push_str(&format!("{{%{open} endif {close}%}}")),
            _ => out.push_str(&tag[..end + 2]),
        }
        rest = &tag[end + 2..];
    }
    out.push_str(rest);
    out
}

fn mark(c: Option<char>) -> &'static str {
    match c {
        Some('-') => "-",
        Some('+') => "+",
        _ => "",
    }
}
