//! disasm
