//! What Python does and chat templates lean on: str(), json.dumps(), strftime().
use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Error, ErrorKind, Output, State, Value};
use std::fmt::Write;

/// `{{ value }}`.
pub fn print(out: &mut Output, _: &mut State, value: &Value) -> Result<(), Error> {
    match value.as_str() {
        Some(text) => out.write_str(text)?,
        None => out.write_str(&text(value))?,
    }
    Ok(())
}

/// The `string` filter.
pub fn string(value: &Value) -> String {
    text(value)
}

/// str(value).
fn text(value: &Value) -> String {
    match value.kind() {
        ValueKind::Number if !value.is_integer() => f64::try_from(value.clone()).map(float),
        ValueKind::Seq | ValueKind::Map => Ok(repr(value, 0)),
        _ => Ok(value.to_string()),
    }
    .unwrap_or_default()
}

/// repr(value). Only floats are spelt differently by minijinja, and it prints what is inside of
/// containers itself.
fn repr(value: &Value, depth: usize) -> String {
    let list = |items: Vec<String>, open: &str, close: &str| format!("{open}{}{close}", items.join(", "));
    let each = || value.try_iter().into_iter().flatten();
    match value.kind() {
        _ if depth > MAX_DEPTH => "...".into(),
        ValueKind::Map => {
            let pair = |key: Value| {
                let item = value.get_item(&key).unwrap_or_default();
                format!("{}: {}", repr(&key, depth + 1), repr(&item, depth + 1))
            };
            list(each().map(pair).collect(), "{", "}")
        }
        ValueKind::Seq if !value.is_tuple() => {
            list(each().map(|item| repr(&item, depth + 1)).collect(), "[", "]")
        }
        ValueKind::Number => text(value),
        _ => format!("{value:?}"),
    }
}

const MAX_DEPTH: usize = 100;

/// The `iterable` test: None is not.
pub fn is_iterable(value: &Value) -> bool {
    use ValueKind::*;
    matches!(value.kind(), Seq | Map | Iterable | String | Undefined)
}

/// The `tojson` of chat templates: json.dumps(value, ensure_ascii=False, ...), not HTML-safe.
pub fn tojson(
    state: &State,
    value: &Value,
    indent: Option<Value>,
    args: Kwargs,
) -> Result<String, Error> {
    let ascii: Option<bool> = args.get("ensure_ascii")?;
    let indent = match indent {
        Some(indent) => Some(indent),
        None => args.get("indent")?,
    };
    let separators: Option<Value> = args.get("separators")?;
    let sort_keys: Option<bool> = args.get("sort_keys")?;
    args.assert_all_used()?;
    let indent = match indent {
        Some(indent) if !indent.is_none() => Some(usize::try_from(indent)?),
        _ => None,
    };
    let mut json = Json::new(indent, sort_keys.unwrap_or(false), ascii.unwrap_or(false));
    if let Some(separators) = separators.filter(|s| !s.is_none()) {
        let text = |i: usize| separators.get_item(&Value::from(i)).map(|s| s.to_string());
        (json.between, json.colon) = (text(0)?, text(1)?);
    }
    json.write(state, value, 0)?;
    Ok(json.out)
}

struct Json {
    out: String,
    indent: Option<usize>,
    sort_keys: bool,
    ascii: bool,
    between: String,
    colon: String,
}

impl Json {
    fn new(indent: Option<usize>, sort_keys: bool, ascii: bool) -> Self {
        let between = if indent.is_some() { "," } else { ", " };
        let (out, between, colon) = (String::new(), between.into(), ": ".into());
        Self { out, indent, sort_keys, ascii, between, colon }
    }

    fn write(&mut self, state: &State, value: &Value, depth: usize) -> Result<(), Error> {
        if depth > MAX_DEPTH {
            return Err(Error::new(ErrorKind::InvalidOperation, "tojson: nested too deeply"));
        }
        let before = self.out.len();
        match value.kind() {
            ValueKind::None => self.out.push_str("null"),
            ValueKind::Bool => self.out.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number => self.number(value),
            ValueKind::String => self.string(value.as_str().unwrap_or_default()),
            ValueKind::Map => self.map(state, value, depth)?,
            ValueKind::Seq | ValueKind::Iterable => self.list(state, value, depth)?,
            other => {
                let message = format!("tojson: a value of type {other} is not JSON");
                return Err(Error::new(ErrorKind::InvalidOperation, message));
            }
        }
        state.consume_fuel(1 + ((self.out.len() - before) / 64) as u64)
    }

    fn number(&mut self, value: &Value) {
        match (value.is_integer(), f64::try_from(value.clone())) {
            (false, Ok(x)) => self.out.push_str(&float(x)),
            _ => self.out.push_str(&value.to_string()),
        }
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\u{8}' => self.out.push_str("\\b"),
                '\u{c}' => self.out.push_str("\\f"),
                c if c < ' ' || (self.ascii && !c.is_ascii()) => self.escape(c),
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }

    fn escape(&mut self, c: char) {
        for unit in c.encode_utf16(&mut [0; 2]) {
            write!(self.out, "\\u{unit:04x}").expect("a String grows");
        }
    }

    fn list(&mut self, state: &State, value: &Value, depth: usize) -> Result<(), Error> {
        self.out.push('[');
        let mut empty = true;
        for item in value.try_iter()? {
            self.separate(empty, depth + 1);
            empty = false;
            self.write(state, &item, depth + 1)?;
        }
        self.close(empty, depth, ']');
        Ok(())
    }

    fn map(&mut self, state: &State, value: &Value, depth: usize) -> Result<(), Error> {
        let mut keys: Vec<Value> = value.try_iter()?.collect();
        if self.sort_keys {
            keys.sort();
        }
        self.out.push('{');
        for (i, key) in keys.iter().enumerate() {
            self.separate(i == 0, depth + 1);
            self.string(&key.to_string());
            self.out.push_str(&self.colon.clone());
            self.write(state, &value.get_item(key)?, depth + 1)?;
        }
        self.close(keys.is_empty(), depth, '}');
        Ok(())
    }

    fn separate(&mut self, first: bool, depth: usize) {
        if !first {
            self.out.push_str(&self.between.clone());
        }
        self.new_line(depth);
    }

    fn close(&mut self, empty: bool, depth: usize, bracket: char) {
        if !empty {
            self.new_line(depth);
        }
        self.out.push(bracket);
    }

    fn new_line(&mut self, depth: usize) {
        if let Some(indent) = self.indent {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', indent * depth));
        }
    }
}

/// repr(float): the shortest digits that read back, an exponent below 1e-4 and from 1e16.
fn float(x: f64) -> String {
    if x.is_nan() {
        return "NaN".into();
    }
    if x.is_infinite() {
        return if x > 0.0 { "Infinity".into() } else { "-Infinity".into() };
    }
    if x != 0.0 && !(1e-4..1e16).contains(&x.abs()) {
        let scientific = format!("{x:e}");
        let (digits, exponent) = scientific.split_once('e').expect("{:e} writes an e");
        let exponent: i32 = exponent.parse().expect("{:e} writes an integer after the e");
        return format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs());
    }
    format!("{x:?}")
}

/// strftime(format) of a moment in UTC, in the C locale.
pub fn strftime(format: &str, now: i64) -> Result<String, Error> {
    let moment = Moment::new(now);
    let mut out = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let specifier = match chars.next() {
            Some('-') => chars.next().map(|s| (s, true)),
            other => other.map(|s| (s, false)),
        };
        let (specifier, bare) = specifier.unwrap_or((' ', false));
        let text = moment.field(specifier).ok_or_else(|| {
            let message = format!("strftime_now: %{specifier} is not known");
            Error::new(ErrorKind::InvalidOperation, message)
        })?;
        let short = text.trim_start_matches('0');
        out.push_str(if bare && !short.is_empty() { short } else { &text });
    }
    Ok(out)
}

struct Moment {
    year: i64,
    month: usize, // 0 is January
    day: i64,
    weekday: usize, // 0 is Sunday
    day_of_year: i64,
    second: i64, // of the day
}

const MONTHS: [&str; 12] = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
];
const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

impl Moment {
    fn new(now: i64) -> Self {
        let (days, second) = (now.div_euclid(86_400), now.rem_euclid(86_400));
        let weekday = (days + 4).rem_euclid(7) as usize;
        let leap = |y: i64| y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
        // Whole 400-year cycles first, so that any moment is reached in a few steps.
        let (mut year, mut rest) = (1970 + 400 * days.div_euclid(146_097), days.rem_euclid(146_097));
        while rest >= 365 + leap(year) as i64 {
            rest -= 365 + leap(year) as i64;
            year += 1;
        }
        let (day_of_year, mut month) = (rest + 1, 0);
        let lengths = [31, 28 + leap(year) as i64, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        while rest >= lengths[month] {
            rest -= lengths[month];
            month += 1;
        }
        Self { year, month, day: rest + 1, weekday, day_of_year, second }
    }

    fn field(&self, specifier: char) -> Option<String> {
        let (hour, minute) = (self.second / 3600, self.second / 60 % 60);
        Some(match specifier {
            'Y' => self.year.to_string(),
            'y' => format!("{:02}", self.year.rem_euclid(100)),
            'm' => format!("{:02}", self.month + 1),
            'B' => MONTHS[self.month].into(),
            'b' | 'h' => MONTHS[self.month][..3].into(),
            'd' => format!("{:02}", self.day),
            'e' => format!("{:2}", self.day),
            'j' => format!("{:03}", self.day_of_year),
            'A' => DAYS[self.weekday].into(),
            'a' => DAYS[self.weekday][..3].into(),
            'H' => format!("{hour:02}"),
            'I' => format!("{:02}", (hour + 11) % 12 + 1),
            'M' => format!("{minute:02}"),
            'S' => format!("{:02}", self.second % 60),
            'p' => if hour < 12 { "AM" } else { "PM" }.into(),
            'F' => format!("{}-{:02}-{:02}", self.year, self.month + 1, self.day),
            'T' => format!("{hour:02}:{minute:02}:{:02}", self.second % 60),
            'Z' => "UTC".into(),
            'z' => "+0000".into(),
            '%' => "%".into(),
            _ => return None,
        })
    }
}
