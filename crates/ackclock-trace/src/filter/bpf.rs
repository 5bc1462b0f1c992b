//! Programs of the BSD packet filter (McCanne & Jacobson 1993), as `tcpdump -ddd` prints them: how
//! many instructions there are, then `code jt jf k` of each.
//!
//! Every program that [`Program::parse`] lets through comes to an end: jumps lead forward, to an
//! instruction that is there, and the last instruction returns.

/// A program that has been checked.
#[derive(Debug)]
pub(super) struct Program {
    code: Vec<Op>,
}

/// Words of scratch memory.
const WORDS: usize = 16;

/// More than libpcap makes, and than kernels take (BPF_MAXINSNS).
const MOST_INSTRUCTIONS: usize = 65_536;

/// An instruction. `A` is the accumulator, `X` the index register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    /// `A` = `size` bytes of the packet at `k`, or at `X` + `k`.
    Load {
        size: u8,
        indexed: bool,
        k: u32,
    },
    /// `X` = the length of an IPv4 header that begins at `k`.
    LoadHeaderLen(u32),
    /// `A` or `X` = a value.
    Set(Register, Value),
    /// Scratch memory = `A` or `X`.
    Store(usize, Register),
    /// `A` = `A` and the operand.
    Alu(Alu, Operand),
    Negate,
    /// Goes on so many instructions after the next one.
    Jump(usize),
    /// Goes on `yes` or `no` instructions after the next one.
    Branch {
        test: Test,
        with: Operand,
        yes: usize,
        no: usize,
    },
    /// The frame passes if this is not zero.
    Return(Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Register {
    A,
    X,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Constant(u32),
    /// The length of the frame on the wire.
    Length,
    Memory(usize),
    Register(Register),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operand {
    Constant(u32),
    X,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alu {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Or,
    And,
    Xor,
    Left,
    Right,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Test {
    Equal,
    Greater,
    NotLess,
    AnyBit,
}

impl Program {
    /// Reads and checks what `tcpdump -ddd` prints; on an error the line, from 1, and what is
    /// wrong.
    pub(super) fn parse(text: &str) -> Result<Program, (usize, String)> {
        let mut lines = text.lines();
        let count: usize = lines
            .next()
            .and_then(|line| line.trim().parse().ok())
            .filter(|count| (1..=MOST_INSTRUCTIONS).contains(count))
            .ok_or_else(|| {
                (
                    1,
                    format!(
                        "the number of instructions is missing, or not 1 to {MOST_INSTRUCTIONS}"
                    ),
                )
            })?;
        let lines: Vec<&str> = lines.collect();
        if lines.len() != count {
            return Err((
                lines.len() + 1,
                format!("{} instructions, where {count} were announced", lines.len()),
            ));
        }
        let read = |(at, line): (usize, &&str)| {
            Op::parse(line, count - at - 1)
                .ok_or_else(|| (at + 2, format!("no instruction of BPF: {line}")))
        };
        let code: Vec<Op> = lines.iter().enumerate().map(read).collect::<Result<_, _>>()?;
        match code.last() {
            Some(Op::Return(_)) => Ok(Program { code }),
            _ => Err((count + 1, "the last instruction does not return".into())),
        }
    }

    /// Whether a frame passes.
    pub(super) fn matches(&self, data: &[u8], wire_len: u32) -> bool {
        let mut machine = Machine { data, wire_len, a: 0, x: 0, memory: [0; WORDS] };
        machine.run(&self.code).unwrap_or(0) != 0
    }
}

impl Op {
    /// Reads `code jt jf k`, with `left` more instructions to come; `None` if it is none, or unsafe
    /// to run.
    fn parse(line: &str, left: usize) -> Option<Op> {
        let mut numbers = line.split_ascii_whitespace().map(str::parse::<u32>);
        let mut number = || numbers.next()?.ok();
        let (code, yes, no, k) = (number()?, number()? as usize, number()? as usize, number()?);
        if numbers.next().is_some() || yes > 255 || no > 255 {
            return None;
        }
        let word = || (k < WORDS as u32).then_some(k as usize);
        // BPF_X in place of BPF_K.
        let with = if code & 0x08 == 0 { Operand::Constant(k) } else { Operand::X };
        Some(match code {
            0x20 => Op::Load { size: 4, indexed: false, k },
            0x28 => Op::Load { size: 2, indexed: false, k },
            0x30 => Op::Load { size: 1, indexed: false, k },
            0x40 => Op::Load { size: 4, indexed: true, k },
            0x48 => Op::Load { size: 2, indexed: true, k },
            0x50 => Op::Load { size: 1, indexed: true, k },
            0xb1 => Op::LoadHeaderLen(k),
            0x00 => Op::Set(Register::A, Value::Constant(k)),
            0x01 => Op::Set(Register::X, Value::Constant(k)),
            0x80 => Op::Set(Register::A, Value::Length),
            0x81 => Op::Set(Register::X, Value::Length),
            0x60 => Op::Set(Register::A, Value::Memory(word()?)),
            0x61 => Op::Set(Register::X, Value::Memory(word()?)),
            0x87 => Op::Set(Register::A, Value::Register(Register::X)),
            0x07 => Op::Set(Register::X, Value::Register(Register::A)),
            0x02 => Op::Store(word()?, Register::A),
            0x03 => Op::Store(word()?, Register::X),
            0x04 | 0x0c => Op::Alu(Alu::Add, with),
            0x14 | 0x1c => Op::Alu(Alu::Sub, with),
            0x24 | 0x2c => Op::Alu(Alu::Mul, with),
            0x34 | 0x3c if with != Operand::Constant(0) => Op::Alu(Alu::Div, with),
            0x94 | 0x9c if with != Operand::Constant(0) => Op::Alu(Alu::Mod, with),
            0x44 | 0x4c => Op::Alu(Alu::Or, with),
            0x54 | 0x5c => Op::Alu(Alu::And, with),
            0xa4 | 0xac => Op::Alu(Alu::Xor, with),
            0x64 | 0x6c => Op::Alu(Alu::Left, with),
            0x74 | 0x7c => Op::Alu(Alu::Right, with),
            0x84 => Op::Negate,
            0x05 if (k as usize) < left => Op::Jump(k as usize),
            0x15 | 0x1d | 0x25 | 0x2d | 0x35 | 0x3d | 0x45 | 0x4d if yes < left && no < left => {
                let test = match code & 0xf0 {
                    0x10 => Test::Equal,
                    0x20 => Test::Greater,
                    0x30 => Test::NotLess,
                    _ => Test::AnyBit,
                };
                Op::Branch { test, with, yes, no }
            }
            0x06 => Op::Return(Value::Constant(k)),
            0x16 => Op::Return(Value::Register(Register::A)),
            _ => return None,
        })
    }
}

struct Machine<'a> {
    data: &'a [u8],
    wire_len: u32,
    a: u32,
    x: u32,
    memory: [u32; WORDS],
}

impl Machine<'_> {
    /// What the program returns; `None` if it reads beyond the frame or divides by zero, which ends
    /// it.
    fn run(&mut self, code: &[Op]) -> Option<u32> {
        let mut rest = code;
        loop {
            let (&op, after) = rest.split_first()?;
            let mut skip = 0;
            match op {
                Op::Load { size, indexed, k } => {
                    let at = if indexed { self.x.checked_add(k)? } else { k };
                    self.a = self.load(at, size)?;
                }
                Op::LoadHeaderLen(k) => self.x = (self.load(k, 1)? & 0x0f) * 4,
                Op::Set(register, value) => *self.register(register) = self.value(value),
                Op::Store(word, register) => self.memory[word] = *self.register(register),
                Op::Alu(alu, operand) => self.a = alu.apply(self.a, self.operand(operand))?,
                Op::Negate => self.a = self.a.wrapping_neg(),
                Op::Jump(by) => skip = by,
                Op::Branch { test, with, yes, no } => {
                    skip = if test.holds(self.a, self.operand(with)) { yes } else { no };
                }
                Op::Return(value) => return Some(self.value(value)),
            }
            rest = after.get(skip..)?;
        }
    }

    fn load(&self, at: u32, size: u8) -> Option<u32> {
        let bytes = self.data.get(at as usize..)?.get(..usize::from(size))?;
        Some(bytes.iter().fold(0, |value, &byte| value << 8 | u32::from(byte)))
    }

    fn register(&mut self, register: Register) -> &mut u32 {
        match register {
            Register::A => &mut self.a,
            Register::X => &mut self.x,
        }
    }

    fn value(&mut self, value: Value) -> u32 {
        match value {
            Value::Constant(k) => k,
            Value::Length => self.wire_len,
            Value::Memory(word) => self.memory[word],
            Value::Register(register) => *self.register(register),
        }
    }

    fn operand(&self, operand: Operand) -> u32 {
        match operand {
            Operand::Constant(k) => k,
            Operand::X => self.x,
        }
    }
}

impl Alu {
    fn apply(self, a: u32, b: u32) -> Option<u32> {
        Some(match self {
            Alu::Add => a.wrapping_add(b),
            Alu::Sub => a.wrapping_sub(b),
            Alu::Mul => a.wrapping_mul(b),
            Alu::Div => a.checked_div(b)?,
            Alu::Mod => a.checked_rem(b)?,
            Alu::Or => a | b,
            Alu::And => a & b,
            Alu::Xor => a ^ b,
            // As libpcap has it: nothing is left after 32 bits.
            Alu::Left => a.checked_shl(b).unwrap_or(0),
            Alu::Right => a.checked_shr(b).unwrap_or(0),
        })
    }
}

impl Test {
    fn holds(self, a: u32, b: u32) -> bool {
        match self {
            Test::Equal => a == b,
            Test::Greater => a > b,
            Test::NotLess => a >= b,
            Test::AnyBit => a & b != 0,
        }
    }
}

#[cfg(test)]
mod tests;
