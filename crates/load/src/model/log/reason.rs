//! Why lines and logs are refused, and what of a log is not used.

use std::fmt;

use super::foreign::{COMMON, ForeignLog};
use super::latency::LatencyField;
use super::target::LONGEST;
use super::time::TimeFault;

/// Why a line is no request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The text has no line feed at its end.
    CutOff,
    /// The line has no fields.
    NoFields,
    /// There is no time in brackets before a request in quotation marks.
    NoTime,
    /// The time is not of the form `10/Oct/2000:13:55:36 -0700`.
    Time(TimeFault),
    /// There is no request in quotation marks.
    NoRequest,
    /// The request is not of the form `GET /path HTTP/1.1`.
    Request,
    /// The object has a name that is too long for a request.
    LongObject,
    /// There is no status.
    NoStatus,
    /// There is no number of bytes.
    NoBytes,
    /// There is no number of bytes, but a number before the time, which it is not in most lines.
    NumberBefore,
    /// A quotation mark or bracket before the time has no partner.
    OpenBefore,
    /// A quotation mark or bracket after the bytes has no partner.
    OpenAfter,
    /// The number of fields before the time is not that of the lines that are read.
    FieldsBefore {
        /// Number of fields of this line.
        found: usize,
        /// Number of fields of the lines that are read.
        usual: usize,
    },
    /// The number of fields after the bytes is not that of other lines.
    FieldsAfter {
        /// Number of fields of this line.
        found: usize,
        /// Number of fields of other lines.
        usual: usize,
    },
    /// There is no client, or it is no address although it is one in other lines.
    Client,
    /// A list of addresses stands after the client.
    ListAfter,
    /// A line of Squid's native log has another number of fields.
    SquidFields(usize),
    /// A field of Squid's native log has another form.
    SquidField(&'static str),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Reason::CutOff => f.write_str("it does not end in a line feed, so it may be cut off"),
            Reason::NoFields => f.write_str("it has no fields"),
            Reason::NoTime => f.write_str("it has no [time]"),
            Reason::Time(fault) => fault.fmt(f),
            Reason::NoRequest => f.write_str("it has no \"request\""),
            Reason::Request => f.write_str("its request is not as GET /path HTTP/1.1"),
            Reason::LongObject => {
                write!(f, "the object of its request has a name of more than {LONGEST} characters")
            }
            Reason::NoStatus => f.write_str("it has no status"),
            Reason::NoBytes => f.write_str("it has no number of bytes"),
            Reason::NumberBefore => f.write_str(
                "it has no number of bytes, but a number as identity or user: its fields may be exchanged",
            ),
            Reason::OpenBefore => {
                f.write_str("a quotation mark or bracket before its time has no partner")
            }
            Reason::OpenAfter => {
                f.write_str("a quotation mark or bracket after its bytes has no partner")
            }
            Reason::FieldsBefore { found, usual } => write!(
                f,
                "it has {found} fields before its time, and lines with {usual} are read"
            ),
            Reason::FieldsAfter { found, usual } => write!(
                f,
                "it has {found} fields after its bytes, where other lines have {usual}"
            ),
            Reason::Client => f.write_str("its client is missing, or no address as in other lines"),
            Reason::ListAfter => {
                f.write_str("a list of addresses stands after its client: its fields may be exchanged")
            }
            Reason::SquidFields(found) => {
                write!(f, "it has {found} fields, where Squid's native log has 10")
            }
            Reason::SquidField(what) => write!(f, "its {what} is not as in Squid's native log"),
        }
    }
}

/// Why a whole log is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogFault {
    /// The log of another program or in another form.
    Foreign(ForeignLog),
    /// No line is a request: the number and reason of the first line.
    NoRequest(Option<(u64, Reason)>),
    /// No number of fields after the bytes is that of half of the lines.
    MixedLines,
    /// Several fields before the time are addresses: their numbers, from 1.
    SeveralClients(Vec<usize>),
    /// There are not just three fields before the time, and none of them is always an address.
    NoClient(usize),
    /// The user names a field of Squid's native log, whose fields are fixed.
    FixedFields,
    /// The field that the user names is no time in most requests.
    NoLatency(LatencyField, NotTimes),
    /// The log has no field with the number that an option names.
    NoField {
        option: &'static str,
        /// Number of fields.
        fields: usize,
    },
}

impl fmt::Display for LogFault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            LogFault::Foreign(log) => log.fmt(f),
            LogFault::NoRequest(None) => f.write_str("it has no lines"),
            LogFault::NoRequest(Some((line, reason))) => {
                write!(f, "no line is a request; line {line}: {reason}")
            }
            LogFault::MixedLines => f.write_str(
                "its lines have different numbers of fields after their bytes, so that none can be relied on",
            ),
            LogFault::SeveralClients(fields) => write!(
                f,
                "fields {} before the time are addresses: the client may be each of them",
                fields.iter().map(usize::to_string).collect::<Vec<_>>().join(" and ")
            ),
            LogFault::NoClient(fields) => write!(
                f,
                "it has {fields} fields before the time, none of which is always an address: the client is unknown"
            ),
            LogFault::FixedFields => f.write_str("the fields of Squid's native log are fixed"),
            LogFault::NoLatency(field, others) => write!(
                f,
                "--latency-field: {field}, is no time of at most a day in {others}"
            ),
            LogFault::NoField { option, fields } => {
                write!(f, "{option} names a field that the log does not have: there are {fields}")
            }
        }
    }
}

impl LogFault {
    /// How to get a log that can be read.
    pub fn help(&self) -> String {
        match self {
            LogFault::Foreign(log) => log.help(),
            LogFault::NoRequest(_) | LogFault::NoClient(0) => COMMON.to_owned(),
            LogFault::MixedLines => {
                "write one log for each format, or take its lines apart with grep".to_owned()
            }
            LogFault::SeveralClients(_) | LogFault::NoClient(_) => {
                "--client-field N says which one it is, counted from 1".to_owned()
            }
            LogFault::FixedFields => "leave out --client-field and --latency-field".to_owned(),
            LogFault::NoLatency(..) => {
                "name another field or unit: fields after the bytes are counted from 1".to_owned()
            }
            LogFault::NoField { .. } => "fields are counted from 1".to_owned(),
        }
    }
}

/// A part of a log that is used or not used, where its form does not decide that.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// A field before the time is not used.
    Before {
        /// Its number, from 1.
        field: usize,
        /// Its first value.
        example: String,
        /// Number of its values; at the most [`MOST_VALUES`].
        values: usize,
    },
    /// The clients are no addresses.
    Names {
        /// The first client.
        example: String,
    },
    /// The first client of each list is used.
    Lists,
    /// Fields after the bytes are not used.
    After {
        /// Their numbers, from 1, with a value of each.
        fields: Vec<(usize, String)>,
        /// Whether another field is the latency, or one of several.
        has_latency: bool,
    },
    /// Several fields after the bytes may be the latency, so none is used.
    Latencies(Vec<(usize, String)>),
    /// Some requests have `-` in place of a latency.
    NoLatency(u64),
    /// Some requests have another text in place of a latency.
    NotTimes(NotTimes),
    /// The sizes include the headers of the responses.
    Headers,
}

/// Requests whose latency is no time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotTimes {
    /// Their number.
    pub count: u64,
    /// Number of all requests.
    pub all: u64,
    /// Number of the first one's line, from 1.
    pub line: u64,
    /// The first one's text in place of the latency.
    pub example: String,
}

impl fmt::Display for NotTimes {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "{} of {} requests, first line {} ({:?})",
            self.count, self.all, self.line, self.example
        )
    }
}

/// The most values of an unused field that are counted.
pub const MOST_VALUES: usize = 1000;

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Note::Before { field, example, values } => {
                write!(f, "field {field} of the lines ({example:?}) is not used")?;
                if *values > 1 {
                    let least = if *values == MOST_VALUES { "at least " } else { "" };
                    write!(
                        f,
                        "; it has {least}{values} values, and a path is one object for all of them"
                    )?;
                }
                Ok(())
            }
            Note::Names { example } => {
                write!(f, "the clients are names, such as {example:?}, and not addresses")
            }
            Note::Lists => f.write_str("of a list of clients, the first one counts"),
            Note::After { fields, has_latency } => {
                let help = "; --latency-field names one that is the latency";
                write!(
                    f,
                    "fields after the bytes that are not used: {}{}",
                    listed(fields),
                    if *has_latency { "" } else { help }
                )
            }
            Note::Latencies(fields) => write!(
                f,
                "each of the fields after the bytes {} may be the latency, so none is used; --latency-field N=UNIT decides",
                listed(fields)
            ),
            Note::NoLatency(count) => write!(f, "{count} requests have no latency"),
            Note::NotTimes(requests) => write!(f, "the latency is no time in {requests}"),
            Note::Headers => {
                f.write_str("the sizes include the headers of the responses, as Squid writes them")
            }
        }
    }
}

/// `3 ("MISS"), 4 ("0.004")`
fn listed(fields: &[(usize, String)]) -> String {
    let each = fields.iter().map(|(field, example)| format!("{field} ({example:?})"));
    each.collect::<Vec<_>>().join(", ")
}
