//! Which frames to look at, in the language of tcpdump (pcap-filter(7)).
//!
//! tcpdump compiles the expression, since it knows the language and its link types, and prints the
//! program; the frames are run through it here.

mod bpf;

use std::io::{self, Write};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use bpf::Program;

use crate::file::{Frame, LinkType};
use crate::packet::is_known;

/// An expression, compiled for each link type that is met. Clones share what is compiled.
#[derive(Clone, Debug)]
pub struct Filter {
    met: Vec<(LinkType, Compiled)>,
    shared: Arc<Shared>,
}

/// `None` if tcpdump refuses the expression for frames that are not known here either.
type Compiled = Option<Arc<Program>>;

#[derive(Debug)]
struct Shared {
    expression: String,
    programs: Mutex<Vec<(LinkType, Compiled)>>,
}

/// Why a filter cannot be applied.
#[derive(Debug, thiserror::Error)]
pub enum FilterError {
    /// tcpdump does not run.
    #[error("filters need tcpdump, which cannot be run: {0}")]
    NoTcpdump(#[source] io::Error),
    /// tcpdump refuses the expression.
    #[error("filter `{expression}` on frames of link type {link}: {says}")]
    Refused {
        /// The expression.
        expression: String,
        /// The link type, by number.
        link: u16,
        /// What tcpdump says.
        says: String,
    },
    /// What tcpdump printed is no program.
    #[error("tcpdump compiled the filter into what is no BPF program: line {line}: {says}")]
    NoProgram {
        /// Line of what it printed, from 1.
        line: usize,
        /// What is wrong there.
        says: String,
    },
}

impl Filter {
    /// A filter that has not been compiled yet.
    pub fn new(expression: &str) -> Filter {
        Filter {
            met: Vec::new(),
            shared: Arc::new(Shared { expression: expression.into(), programs: Mutex::default() }),
        }
    }

    /// Compiles the filter for frames of link type `link`, which [`Filter::matches`] does when it
    /// meets the first one.
    ///
    /// # Errors
    /// Why that cannot be done.
    pub fn compile(&mut self, link: LinkType) -> Result<(), FilterError> {
        self.program(link).map(|_| ())
    }

    /// Whether the filter lets a frame through. As in tcpdump, a frame that was cut before what is
    /// asked for does not pass. One whose link type neither [`decode`](crate::decode) nor the
    /// expression knows does, so that it is counted as such.
    ///
    /// # Errors
    /// The filter cannot be compiled for the frame's link type.
    pub fn matches(&mut self, frame: &Frame<'_>) -> Result<bool, FilterError> {
        let known = self.met.iter().find(|(link, _)| *link == frame.link);
        let program = match known {
            Some((_, program)) => program,
            None => &self.program(frame.link)?,
        };
        Ok(program.as_ref().is_none_or(|program| program.matches(frame.data, frame.wire_len)))
    }

    /// Why tcpdump refused the expression for each link type that was met, if it did.
    pub fn refused_for_all(&self) -> Option<FilterError> {
        let programs = self.shared.programs.lock().unwrap_or_else(PoisonError::into_inner);
        let link = programs.first()?.0;
        let all = programs.iter().all(|(_, program)| program.is_none());
        drop(programs);
        all.then(|| compile(&self.shared.expression, link).err())?
    }

    #[cold]
    fn program(&mut self, link: LinkType) -> Result<Compiled, FilterError> {
        let mut programs = self.shared.programs.lock().unwrap_or_else(PoisonError::into_inner);
        let program = match programs.iter().find(|(known, _)| *known == link) {
            Some((_, program)) => program.clone(),
            None => {
                let program = match compile(&self.shared.expression, link) {
                    Err(FilterError::Refused { .. }) if !is_known(link) => None,
                    compiled => Some(Arc::new(compiled?)),
                };
                programs.push((link, program.clone()));
                program
            }
        };
        self.met.push((link, program.clone()));
        Ok(program)
    }
}

fn compile(expression: &str, link: LinkType) -> Result<Program, FilterError> {
    let Output { status, stdout, stderr } =
        tcpdump(expression, link).map_err(FilterError::NoTcpdump)?;
    if !status.success() {
        // Before that stands what it reads, and warnings.
        let says = String::from_utf8_lossy(&stderr);
        let says = says.lines().last().unwrap_or("tcpdump failed");
        let says = says.strip_prefix("tcpdump: ").unwrap_or(says).to_owned();
        return Err(FilterError::Refused { expression: expression.into(), link: link.0, says });
    }
    Program::parse(&String::from_utf8_lossy(&stdout))
        .map_err(|(line, says)| FilterError::NoProgram { line, says })
}

/// Has tcpdump compile for a capture without packets, so that it needs no device and no rights.
fn tcpdump(expression: &str, link: LinkType) -> io::Result<Output> {
    let mut header = [0; 24];
    header[..8].copy_from_slice(&[0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0]);
    header[16..20].copy_from_slice(&262_144_u32.to_le_bytes());
    header[20..24].copy_from_slice(&u32::from(link.0).to_le_bytes());
    let mut child = Command::new("tcpdump")
        .args(["-r", "-", "-ddd", "--", expression])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // It may refuse the expression before it reads.
        let _ = stdin.write_all(&header);
    }
    child.wait_with_output()
}
