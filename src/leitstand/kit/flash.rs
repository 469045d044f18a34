//! Messages from a form to the page it redirects to, which shows them once: hints, a confirmation, or the
//! values typed before a log-in.

use std::collections::VecDeque;
use std::mem::take;
use std::sync::Mutex;

use crate::leitstand::access::people::digest;
use crate::platform::failure::locked;

/// Maximum number of messages not yet shown; beyond it the oldest are dropped.
const MESSAGES_MAX: usize = 1_000;

/// Most of them for one browser: a person may have sent forms in several windows.
const MESSAGES_OF_BROWSER_MAX: usize = 8;

struct FlashMessage {
    browser: [u8; 32],
    path: String,
    notes: Vec<String>,
    form: Vec<(String, String)>,
}

#[derive(Default)]
pub struct FlashMessages(Mutex<VecDeque<FlashMessage>>);

impl FlashMessages {
    /// Keeps notes and form fields for the page that the browser with this cookie is redirected to. The query
    /// of `to` is ignored.
    pub fn keep(&self, cookie: &str, to: &str, notes: Vec<String>, form: Vec<(String, String)>) {
        if notes.is_empty() && form.is_empty() {
            return;
        }
        let path = to.split(['?', '#']).next().unwrap_or_default().to_owned();
        let browser = digest(cookie);
        let mut messages = locked(&self.0);
        let is_own = |message: &FlashMessage| message.browser == browser;
        let own = messages.iter().filter(|message| is_own(message)).count();
        let dropped = match own {
            MESSAGES_OF_BROWSER_MAX.. => messages.iter().position(is_own),
            _ => (messages.len() >= MESSAGES_MAX).then_some(0),
        };
        if let Some(dropped) = dropped {
            messages.remove(dropped);
        }
        messages.push_back(FlashMessage { browser, path, notes, form });
    }

    pub fn take(&self, cookie: &str, path: &str) -> (Vec<String>, Vec<(String, String)>) {
        let browser = digest(cookie);
        let mut messages = locked(&self.0);
        let (mut notes, mut form) = (Vec::new(), Vec::new());
        messages.retain_mut(|message| {
            let is_meant = message.browser == browser && message.path == path;
            if is_meant {
                notes.append(&mut take(&mut message.notes));
                form = take(&mut message.form);
            }
            !is_meant
        });
        (notes, form)
    }
}
