//! Parquet files, a row at a time as JSON.
use std::fs::File;
use std::io::BufReader;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, FileReader, Length, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
use serde_json::{Map, Number, Value};

use crate::ffi::{guard, Text, View};

pub struct HoneParquet {
    rows: RowIter<'static>,
    /// After an error the reader's state is unknown.
    broken: bool,
}

/// A file that is never asked for more than it has: pages state their own sizes.
struct Bounded(File);

impl Length for Bounded {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for Bounded {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        self.0.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        match start.checked_add(length as u64) {
            Some(end) if end <= self.len() => self.0.get_bytes(start, length),
            _ => Err(ParquetError::EOF("a page reaches beyond the end of the file".into())),
        }
    }
}

fn number(value: f64) -> Value {
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

fn object(row: &Row) -> std::result::Result<Value, String> {
    let mut fields = Map::new();
    for (name, field) in row.get_column_iter() {
        fields.insert(name.clone(), value(field)?);
    }
    Ok(Value::Object(fields))
}

fn value(field: &Field) -> std::result::Result<Value, String> {
    Ok(match field {
        Field::Null => Value::Null,
        Field::Bool(v) => Value::Bool(*v),
        Field::Byte(v) => (*v).into(),
        Field::Short(v) => (*v).into(),
        Field::Int(v) => (*v).into(),
        Field::Long(v) => (*v).into(),
        Field::UByte(v) => (*v).into(),
        Field::UShort(v) => (*v).into(),
        Field::UInt(v) => (*v).into(),
        Field::ULong(v) => (*v).into(),
        Field::Float16(v) => number(f64::from(*v)),
        Field::Float(v) => number(f64::from(*v)),
        Field::Double(v) => number(*v),
        Field::Str(v) => Value::String(v.clone()),
        Field::Bytes(v) => Value::String(
            String::from_utf8(v.data().to_vec()).map_err(|_| "bytes that are not UTF-8 text")?,
        ),
        Field::Group(row) => object(row)?,
        Field::ListInternal(list) => {
            Value::Array(list.elements().iter().map(value).collect::<std::result::Result<_, _>>()?)
        }
        Field::MapInternal(map) => {
            let mut fields = Map::new();
            for (key, entry) in map.entries() {
                let key = match key {
                    Field::Str(text) => text.clone(),
                    other => other.to_string(),
                };
                fields.insert(key, value(entry)?);
            }
            Value::Object(fields)
        }
        // Dates, times and decimals, as the crate writes them.
        other => Value::String(other.to_string()),
    })
}

#[no_mangle]
pub unsafe extern "C" fn hone_parquet_open(path: View, out: *mut *mut HoneParquet) -> Text {
    guard(|| {
        let file = File::open(path.text()?).map_err(|e| e.to_string())?;
        let reader = SerializedFileReader::new(Bounded(file)).map_err(|e| e.to_string())?;
        let rows = RowIter::from_file_into(Box::new(reader) as Box<dyn FileReader>);
        *out = Box::into_raw(Box::new(HoneParquet { rows, broken: false }));
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn hone_parquet_next(parquet: *mut HoneParquet, out: *mut Text) -> Text {
    guard(|| {
        let parquet = &mut *parquet;
        if parquet.broken {
            return Err("reading stopped at an error".into());
        }
        parquet.broken = true; // also when the crate panics
        let row = match parquet.rows.next() {
            None => None,
            Some(Ok(row)) => Some(object(&row)?.to_string()),
            Some(Err(e)) => return Err(e.to_string()),
        };
        parquet.broken = false;
        *out = row.map_or(Text::NONE, |row| Text::new(row.into_bytes()));
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn hone_parquet_free(parquet: *mut HoneParquet) {
    if !parquet.is_null() {
        // A reader that panicked may do so again.
        let _ = guard(|| {
            drop(Box::from_raw(parquet));
            Ok(())
        });
    }
}
