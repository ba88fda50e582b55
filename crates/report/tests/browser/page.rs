//! A page of runs in a browser tab, with the actions of a user.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use yamba_record::Run;
use yamba_report::{SideBySide, Study};

use crate::chromium::Browser;

/// A tab with one page.
pub struct Page<'a> {
    browser: &'a mut Browser,
    tab: String,
    session: String,
}

impl Page<'_> {
    /// Opens the page of `runs` and their studies in a new tab and waits until it is loaded.
    pub fn of<'a>(browser: &'a mut Browser, runs: &[Run], studies: &[Study]) -> Page<'a> {
        Page::compared(browser, runs, studies, None)
    }

    /// Opens the page of two runs with their comparison.
    pub fn compared<'a>(
        browser: &'a mut Browser,
        runs: &[Run],
        studies: &[Study],
        comparison: Option<&SideBySide>,
    ) -> Page<'a> {
        Page::open(browser, &yamba_report::html(runs, studies, &[], comparison))
    }

    /// Opens a page from its text.
    pub fn open<'a>(browser: &'a mut Browser, text: &str) -> Page<'a> {
        let path = browser.folder().join("report.html");
        std::fs::write(&path, text).unwrap();
        let mut page = Page::blank(browser);
        page.call("Page.navigate", json!({"url": format!("file://{}", path.display())}));
        page.browser.wait(&page.session, "Page.loadEventFired");
        page
    }

    fn blank(browser: &mut Browser) -> Page<'_> {
        let made = browser.call(None, "Target.createTarget", json!({"url": "about:blank"}));
        let tab = made["targetId"].as_str().unwrap().to_owned();
        let parameters = json!({"targetId": tab, "flatten": true});
        let attached = browser.call(None, "Target.attachToTarget", parameters);
        let session = attached["sessionId"].as_str().unwrap().to_owned();
        let mut page = Page { browser, tab, session };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            page.call(&format!("{domain}.enable"), json!({}));
        }
        page.window(1200, 900);
        page
    }

    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.browser.call(Some(&self.session), method, parameters)
    }

    /// Sets the size of the window in CSS pixels.
    pub fn window(&mut self, width: u32, height: u32) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Evaluates an expression.
    pub fn value(&mut self, script: &str) -> Value {
        let parameters = json!({"expression": script, "returnByValue": true, "awaitPromise": true});
        let mut answer = self.call("Runtime.evaluate", parameters);
        let fault = answer.get("exceptionDetails");
        assert!(fault.is_none(), "{script}: {}", fault.unwrap());
        answer["result"]["value"].take()
    }

    /// Waits until an expression is true, since scripts handle events asynchronously.
    pub fn until(&mut self, script: &str) {
        let start = Instant::now();
        while self.value(script) != json!(true) {
            assert!(start.elapsed() < Duration::from_secs(600), "never true: {script}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The displayed text of an element.
    pub fn text(&mut self, selector: &str) -> String {
        let text = self.value(&format!("{}.innerText", element(selector)));
        text.as_str().unwrap_or_default().to_owned()
    }

    /// The displayed texts of all visible elements, in document order.
    pub fn texts(&mut self, selector: &str) -> Vec<String> {
        let all = format!(
            "[...document.querySelectorAll({})].filter(e => e.checkVisibility()).map(e => (e.innerText ?? e.textContent).trim())",
            json!(selector)
        );
        serde_json::from_value(self.value(&all)).unwrap()
    }

    /// Scrolls an element into view and returns its position in the window: x, y, width, height.
    pub fn place(&mut self, selector: &str) -> [f64; 4] {
        let script = format!(
            "(e => {{ e.scrollIntoView({{block: 'center'}}); const r = e.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; }})({})",
            element(selector)
        );
        serde_json::from_value(self.value(&script)).unwrap()
    }

    pub fn point_at(&mut self, x: f64, y: f64) {
        let moved = json!({"type": "mouseMoved", "x": x, "y": y});
        self.call("Input.dispatchMouseEvent", moved);
    }

    pub fn click(&mut self, selector: &str) {
        let [x, y, width, height] = self.place(selector);
        for kind in ["mousePressed", "mouseReleased"] {
            let button = json!({"type": kind, "x": x + width / 2.0, "y": y + height / 2.0, "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", button);
        }
    }

    /// Presses a key by its name: `Tab`, `Enter`.
    pub fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            _ => panic!("the test knows no key {key}"),
        };
        let down = json!({"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text});
        self.call("Input.dispatchKeyEvent", down);
        let up = json!({"type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code});
        self.call("Input.dispatchKeyEvent", up);
    }

    /// Types into the focused element.
    pub fn write(&mut self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
    }

    /// Clicks an element that saves a file, and returns the content of the file.
    pub fn save(&mut self, selector: &str, name: &str) -> String {
        let folder = self.browser.folder().join("saved");
        // An earlier test may have saved a file of this name.
        let _ = std::fs::remove_file(folder.join(name));
        let allow = json!({"behavior": "allow", "downloadPath": folder});
        self.browser.call(None, "Browser.setDownloadBehavior", allow);
        self.click(selector);
        let start = Instant::now();
        loop {
            // An empty file reserves the name until the whole file gets it.
            let text = std::fs::read_to_string(folder.join(name));
            if text.as_ref().is_ok_and(|text| !text.is_empty()) {
                return text.unwrap();
            }
            assert!(start.elapsed() < Duration::from_secs(600), "{name}: {text:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Console messages of the page, requests for other resources, and dialogs.
    pub fn faults(&mut self) -> Vec<String> {
        let events = self.browser.events(&self.session);
        events.iter().filter_map(fault).collect()
    }
}

impl Drop for Page<'_> {
    fn drop(&mut self) {
        // No panic during unwinding, so that a failed test shows its own message.
        if !std::thread::panicking() {
            let tab = json!({"targetId": self.tab});
            self.browser.call(None, "Target.closeTarget", tab);
        }
    }
}

fn element(selector: &str) -> String {
    format!("document.querySelector({})", json!(selector))
}

fn fault(event: &Value) -> Option<String> {
    let what = &event["params"];
    match event["method"].as_str()? {
        "Runtime.consoleAPICalled" => Some(format!("console: {}", what["args"])),
        "Runtime.exceptionThrown" => Some(format!("exception: {}", what["exceptionDetails"])),
        "Log.entryAdded" => Some(format!("log: {}", what["entry"]["text"])),
        "Page.javascriptDialogOpening" => Some(format!("dialog: {}", what["message"])),
        "Network.requestWillBeSent" => {
            let url = what["request"]["url"].as_str()?;
            let is_page = url.starts_with("file://") && url.ends_with("/report.html");
            (!is_page).then(|| format!("request: {url}"))
        }
        _ => None,
    }
}
