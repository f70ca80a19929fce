// SPDX-License-Identifier: Apache-2.0
//! A NIF that burns CPU in a function of a module, and in a generic function. It needs no crates.
use std::os::raw::{c_char, c_int, c_uint, c_void};

type Term = usize;
type Nif = unsafe extern "C" fn(*mut c_void, c_int, *const Term) -> Term;

extern "C" {
    fn enif_make_ulong(env: *mut c_void, number: u64) -> Term;
}

pub mod work {
    /// One step of a generator of random numbers, which is inlined.
    pub trait Step {
        fn step(self) -> Self;
    }

    impl Step for u64 {
        #[inline(always)]
        fn step(self) -> u64 {
            self.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407)
        }
    }

    impl Step for u32 {
        #[inline(always)]
        fn step(self) -> u32 {
            self.wrapping_mul(1664525).wrapping_add(1013904223)
        }
    }

    /// Burn CPU in a function that is instantiated for each type.
    #[inline(never)]
    pub fn generic<T: Step + Copy>(from: T, count: u64) -> T {
        let mut value = from;
        for _ in 0..count {
            value = unsafe { std::ptr::read_volatile(&value) }.step();
        }
        value
    }

    /// Burn CPU in a plain function.
    #[inline(never)]
    pub fn plain(count: u64) -> u64 {
        let mut value = 88172645463325252u64;
        for _ in 0..count {
            value ^= unsafe { std::ptr::read_volatile(&value) } << 13;
            value ^= value >> 7;
        }
        value
    }
}

unsafe extern "C" fn burn(env: *mut c_void, _count: c_int, _arguments: *const Term) -> Term {
    let sum = work::plain(200_000)
        .wrapping_add(work::generic(1u64, 200_000))
        .wrapping_add(work::generic(1u32, 200_000) as u64);
    enif_make_ulong(env, sum)
}

/// ErlNifFunc of erl_nif.h.
#[repr(C)]
struct Function {
    name: *const c_char,
    arity: c_uint,
    function: Nif,
    flags: c_uint,
}

/// ErlNifEntry of erl_nif.h.
#[repr(C)]
pub struct Entry {
    major: c_int,
    minor: c_int,
    name: *const c_char,
    function_count: c_int,
    functions: *const Function,
    callbacks: [*const c_void; 4], // load, reload, upgrade, unload
    vm_variant: *const c_char,
    options: c_uint,
    resource_type_init_size: usize,
    least_erts: *const c_char,
}


fn text(bytes: &'static [u8]) -> *const c_char {
    bytes.as_ptr() as *const c_char
}

#[no_mangle]
pub extern "C" fn nif_init() -> *const Entry {
    let functions = Box::new([Function { name: text(b"burn\0"), arity: 0, function: burn, flags: 0 }]);
    Box::into_raw(Box::new(Entry {
        major: 2,
        minor: 16,
        name: text(b"rust_nif\0"),
        function_count: 1,
        functions: Box::leak(functions).as_ptr(),
        callbacks: [std::ptr::null(); 4],
        vm_variant: text(b"beam.vanilla\0"),
        options: 1,
        resource_type_init_size: 32,
        least_erts: text(b"erts-12.0\0"),
    }))
}
