// SPDX-License-Identifier: GPL-2.0

//! A substitute for the macro `Zeroable` of the pin-init crate. It checks nothing.

extern crate proc_macro;

use proc_macro::{
    TokenStream,
    TokenTree, //
};

/// Implements the substitute for the trait.
#[proc_macro_derive(Zeroable)]
pub fn derive(item: TokenStream) -> TokenStream {
    let mut words = item.into_iter().filter_map(|token| match token {
        TokenTree::Ident(word) => Some(word.to_string()),
        _ => None,
    });
    let name = words.by_ref().skip_while(|word| word != "struct").nth(1);
    let name = name.expect("a struct with a name");
    let implementation = format!("impl kernel::prelude::Zeroable for {name} {{}}");
    implementation.parse().expect("an implementation")
}
