//! Tests the page in a real browser: the console is empty, and nothing is wider than the window, in
//! the light and in the dark theme. Screenshots stay in the folder of the page.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use serde_json::{Value, json};

use crate::report_of;
use crate::synthetic::Synthetic;

/// A headless Chromium and its driver; dropping this value ends both.
pub(crate) struct Browser {
    driver: Child,
    session: String,
    agent: ureq::Agent,
    // The browser's own files, which are removed last.
    _profile: tempfile::TempDir,
    // The configuration of the fonts that the browser finds, if they differ from the fonts of this
    // machine.
    _fonts: Option<tempfile::TempDir>,
}

/// The limit on the height of an image in pixels; Chromium does not draw a higher image at all.
const HIGHEST_IMAGE: u64 = 16_000;

/// A machine without any font.
const NO_FONT: &str = "<fontconfig><cachedir prefix=\"xdg\">fonts</cachedir></fontconfig>";

/// A machine whose only font is wide.
const WIDE_FONT: &str = "<fontconfig><dir>/usr/share/fonts</dir><selectfont>
    <rejectfont><glob>*.ttf</glob></rejectfont>
    <acceptfont><glob>*DejaVuSansMono-Bold.ttf</glob></acceptfont>
</selectfont></fontconfig>";

impl Browser {
    pub(crate) fn start() -> Self {
        Self::start_by(&mut Command::new("chromedriver"))
    }

    /// Starts a browser that finds only the fonts of a fontconfig configuration.
    fn with_fonts(configuration: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("fonts.conf");
        std::fs::write(&file, configuration).unwrap();
        let mut driver = Command::new("chromedriver");
        driver.env("FONTCONFIG_FILE", file).env("XDG_CACHE_HOME", folder.path());
        let mut browser = Self::start_by(&mut driver);
        browser._fonts = Some(folder);
        browser
    }

    fn start_by(driver: &mut Command) -> Self {
        let mut driver = driver
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver is needed for this test: scripts/setup.sh installs it");
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines().map_while(Result::ok);
        let port = lines
            .find_map(|line| {
                line.split("successfully on port ")
                    .nth(1)?
                    .trim_end_matches('.')
                    .parse::<u16>()
                    .ok()
            })
            .expect("chromedriver says its port");
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(120)));
        let agent = ureq::Agent::new_with_config(config.build());
        let profile = tempfile::tempdir().unwrap();
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            // Otherwise each start loads pages for windows that nobody opens.
            "--disable-features=PreloadTopChromeWebUI",
            &format!("--user-data-dir={}", profile.path().display()),
        ];
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let session = format!("http://127.0.0.1:{port}");
        let mut browser = Self { driver, session, agent, _profile: profile, _fonts: None };
        let opened = browser.post("/session", &wanted);
        let id = opened["sessionId"]
            .as_str()
            .unwrap_or_else(|| panic!("Chromium does not start: {opened}"));
        browser.session = format!("{}/session/{id}", browser.session);
        browser
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let mut answer =
            self.agent.post(format!("{}{path}", self.session)).send_json(body).unwrap();
        let answer: Value = answer.body_mut().with_config().limit(256 << 20).read_json().unwrap();
        assert!(answer["value"]["error"].is_null(), "{path}: {}", answer["value"]);
        answer["value"].clone()
    }

    fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.post("/goog/cdp/execute", &json!({"cmd": command, "params": parameters}))
    }

    /// Sets the size of the window and the colour scheme, light or dark.
    fn look(&self, width: u32, height: u32, scheme: &str) {
        let phone = width < 600;
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            &json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}),
        );
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.devtools("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// Opens a page and waits for its embedded font.
    fn open(&self, page: &Path) {
        let script = "const done = arguments[0];
            document.fonts.ready.then((fonts) => done([...fonts].every((font) => font.status === 'loaded')));";
        // If the machine has no font, Chromium refuses a page's font every second time.
        let is_drawn = (0..4).any(|_| {
            self.post("/url", &json!({"url": format!("file://{}", page.display())}));
            self.post("/execute/async", &json!({"script": script, "args": []})) == json!(true)
        });
        assert!(is_drawn, "the font of {} is not loaded", page.display());
    }

    pub(crate) fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({"script": script, "args": []}))
    }

    /// The new console messages about the page. On a slow machine the browser's own first page
    /// complains too.
    fn console(&self) -> Vec<String> {
        let entries = self.post("/se/log", &json!({"type": "browser"}));
        let messages = entries
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["message"].as_str().unwrap_or("?"));
        messages.filter(|message| !message.starts_with("chrome://")).map(str::to_owned).collect()
    }

    /// Prints the page as a PDF, on paper of this size in centimetres.
    fn print(&self, path: &Path, (width, height): (f64, f64)) -> Vec<u8> {
        let paper = json!({"paperWidth": width / 2.54, "paperHeight": height / 2.54, "printBackground": true});
        let printed = self.devtools("Page.printToPDF", &paper);
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(printed["data"].as_str().unwrap())
            .unwrap();
        std::fs::write(path, &bytes).unwrap();
        bytes
    }

    /// Saves an image of the page, or of its upper part if the page is higher than the browser's
    /// images can be.
    fn screenshot(&self, path: &Path, whole: bool) {
        let size = self.run(
            "const page = document.documentElement; return [page.clientWidth, page.scrollHeight]",
        );
        let height = size[1].as_u64().unwrap().min(HIGHEST_IMAGE);
        let clip = json!({"x": 0, "y": 0, "width": size[0], "height": height, "scale": 1});
        let asked =
            if whole { json!({"captureBeyondViewport": true, "clip": clip}) } else { json!({}) };
        let taken = self.devtools("Page.captureScreenshot", &asked);
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(taken["data"].as_str().unwrap())
            .unwrap();
        assert!(
            bytes.starts_with(b"\x89PNG") && bytes.len() > 10_000,
            "the screenshot is {} bytes",
            bytes.len()
        );
        std::fs::write(path, bytes).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Ending the session ends Chromium. The driver has to be killed separately.
        let _ = self.agent.delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// A script that finds elements outside the window that are not in a scrolling area.
const TOO_WIDE: &str = "
    const wide = document.documentElement.clientWidth;
    const found = [...document.querySelectorAll('body *')].filter((one) =>
        one.getBoundingClientRect().right > wide + 1 && !one.closest('.scroll, nav > div, pre, .skip, svg'));
    return [document.documentElement.scrollWidth, wide, found.slice(0, 5).map((one) => one.outerHTML.slice(0, 120))];";

/// A script that finds texts whose contrast with a known background is below 3 to 1.
const TOO_FAINT: &str = "
    const paper = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const parts = (colour) => { paper.clearRect(0, 0, 1, 1); paper.fillStyle = colour; paper.fillRect(0, 0, 1, 1);
        return [...paper.getImageData(0, 0, 1, 1).data]; };
    const light = (rgb) => { const [r, g, b] = rgb.map((c) => { c /= 255; return c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4; });
        return .2126 * r + .7152 * g + .0722 * b; };
    const behind = (one) => { for (; one; one = one.parentElement) { const c = parts(getComputedStyle(one).backgroundColor); if (c[3] === 255) return c; }
        return [255, 255, 255]; };
    const found = new Set();
    for (const one of document.querySelectorAll('h1, h2, h3, h4, p, td, th, li, a, button, small, summary, dt, dd, code')) {
        if (!one.textContent.trim() || !one.checkVisibility()) continue;
        const [a, b] = [light(parts(getComputedStyle(one).color).slice(0, 3)), light(behind(one).slice(0, 3))];
        const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        if (ratio < 3) found.add(one.tagName + '.' + one.className + ' ' + ratio.toFixed(2));
    }
    return [...found];";

/// A script that finds overlapping texts in an image.
const OVERLAPPING: &str = "
    const found = [];
    for (const plot of document.querySelectorAll('svg.plot')) {
        if (!plot.checkVisibility()) continue;
        const boxes = [...plot.querySelectorAll('.axis text, .label')].map((text) => [text.textContent, text.getBoundingClientRect()]);
        const frame = plot.getBoundingClientRect();
        for (const [index, [name, a]] of boxes.entries()) {
            if (a.left < frame.left - 2 || a.right > frame.right + 6) found.push('outside: ' + name);
            for (const [other, b] of boxes.slice(index + 1))
                if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3) found.push(name + ' | ' + other);
        }
    }
    return found.slice(0, 8);";

/// Checks a page at the size of a phone and of a screen, light and dark, and leaves screenshots in
/// the same folder.
pub(crate) fn looks_well(browser: &Browser, page: &Path) {
    for (width, height) in [(390, 844), (1280, 860)] {
        for scheme in ["light", "dark"] {
            browser.look(width, height, scheme);
            browser.open(page);
            assert_eq!(browser.console(), Vec::<String>::new(), "the console, {width} {scheme}");
            let wide = browser.run(TOO_WIDE);
            assert!(
                wide[0].as_u64() <= wide[1].as_u64() && wide[2] == json!([]),
                "{width} {scheme}: {wide}"
            );
            assert_eq!(browser.run(TOO_FAINT), json!([]), "{width} {scheme}");
            assert_eq!(browser.run(OVERLAPPING), json!([]), "{width} {scheme}");
            let name = |part: &str| -> PathBuf {
                page.with_file_name(format!("{part}-{width}-{scheme}.png"))
            };
            browser.screenshot(&name("screen"), false);
            if scheme == "light" || width > 600 {
                browser.screenshot(&name("page"), true);
            }
        }
    }
}

/// A script that names the elements that do not fit on paper, are dark or folded, or would be cut.
const NOT_FOR_PAPER: &str = "
    const [wide, high] = arguments, found = [];
    const name = (one) => one.tagName + '.' + (one.className.baseVal ?? one.className) + ' ' + one.textContent.slice(0, 40);
    for (const one of document.querySelectorAll('main *'))
        if (one.checkVisibility() && !one.closest('svg') && one.getBoundingClientRect().right > wide + 1) found.push('wide: ' + name(one));
    for (const one of document.querySelectorAll('nav, .skip')) if (one.checkVisibility()) found.push('of the screen: ' + name(one));
    for (const one of document.querySelectorAll('details table'))
        if (!one.checkVisibility({contentVisibilityAuto: true}) || one.getBoundingClientRect().height < 10) found.push('folded: ' + name(one));
    for (const one of document.querySelectorAll('.plot, tr, .beside')) {
        if (!one.checkVisibility()) continue;
        if (getComputedStyle(one).breakInside !== 'avoid') found.push('may be cut: ' + name(one));
        if (one.getBoundingClientRect().height > high) found.push('higher than a page: ' + name(one));
    }
    for (const one of document.querySelectorAll('.scroll, pre'))
        if (one.checkVisibility() && one.scrollHeight > one.clientHeight + 2 && getComputedStyle(one).overflowY !== 'visible') found.push('cut: ' + name(one));
    const paper = getComputedStyle(document.body).backgroundColor;
    if (paper !== 'rgb(255, 255, 255)') found.push('paper is ' + paper);
    return found.slice(0, 12);";

#[test]
fn the_page_is_printed_light_whole_and_unfolded() {
    let (folder, _, _) = report_of(&Synthetic::new(7, 3), "print");
    let browser = Browser::start();
    for (name, paper) in [("a4", (21.0, 29.7)), ("letter", (21.59, 27.94))] {
        browser.look(1280, 860, "dark");
        browser.open(&folder.join("report.html"));
        browser.run("document.documentElement.dataset.theme = 'dark'");
        // The window is as wide as the paper without its margins, at 96 pixels per inch.
        let pixels = |centimetres: f64| (centimetres / 2.54 * 96.0).floor();
        let (width, height) = (pixels(paper.0 - 2.4), pixels(paper.1 - 2.8));
        browser.devtools(
            "Emulation.setDeviceMetricsOverride",
            &json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}),
        );
        let dark = json!([{"name": "prefers-color-scheme", "value": "dark"}]);
        browser
            .devtools("Emulation.setEmulatedMedia", &json!({"media": "print", "features": dark}));
        let script = format!("return (function () {{ {NOT_FOR_PAPER} }})({width}, {height})");
        assert_eq!(browser.run(&script), json!([]), "{name}");
        assert_eq!(browser.run(TOO_FAINT), json!([]), "{name}");
        assert_eq!(browser.run(OVERLAPPING), json!([]), "{name}");
        browser.devtools("Emulation.setEmulatedMedia", &json!({"media": "", "features": dark}));
        let open = "return document.querySelectorAll('details[open]').length";
        let before = browser.run(open);
        let pdf = browser.print(&folder.join(format!("report-{name}.pdf")), paper);
        let text = String::from_utf8_lossy(&pdf);
        let pages = text.matches("/Type /Page").count() - text.matches("/Type /Pages").count();
        assert!(pdf.starts_with(b"%PDF-") && pages >= 3, "{pages} pages, {} bytes", pdf.len());
        assert_eq!(browser.run(open), before, "after printing the page is as it was");
        assert_eq!(browser.console(), Vec::<String>::new());
    }
}

#[test]
fn the_page_fits_whatever_fonts_are_installed() {
    let (folder, _, _) = report_of(&Synthetic::new(7, 3), "fonts");
    let page = folder.join("report.html");
    let widths = "return [...document.querySelectorAll('svg.plot text')].filter((one) => one.checkVisibility())
        .map((one) => one.textContent + ' ' + one.getComputedTextLength().toFixed(1))";
    let mut seen = Vec::new();
    for fonts in [NO_FONT, WIDE_FONT] {
        let browser = Browser::with_fonts(fonts);
        looks_well(&browser, &page);
        seen.push(browser.run(widths));
    }
    let nothing =
        seen[0].as_array().unwrap().iter().filter(|text| text.as_str().unwrap().ends_with(" 0.0"));
    assert_eq!(nothing.count(), 0, "a letter is drawn where there is no font");
    assert_eq!(seen[0], seen[1], "text is as wide as the font that the page carries makes it");
}

#[test]
fn the_page_opens_in_a_browser_on_phone_and_screen_light_and_dark() {
    let (folder, _, _) = report_of(&Synthetic::new(7, 3), "browser");
    let browser = Browser::start();
    let page = folder.join("report.html");
    looks_well(&browser, &page);

    // The first screen shows the first verdict.
    browser.look(1280, 860, "light");
    browser.open(&page);
    let first =
        browser.run("return document.querySelector('.verdict p').getBoundingClientRect().bottom");
    assert!(first.as_f64().unwrap() < 400.0, "the first verdict ends at {first}");
    // Click the theme button, then a name in a legend.
    let background = "return getComputedStyle(document.body).backgroundColor";
    let light = browser.run(background);
    browser.run("document.getElementById('theme').click()");
    assert_ne!(browser.run(background), light);
    let faded = "return document.querySelectorAll('.focus .series:not(.on)').length";
    assert_eq!(browser.run(faded), json!(0));
    browser.run("document.querySelector('.legend button').click()");
    assert!(browser.run(faded).as_u64() > Some(3));
    // Every image has a title and a description.
    let nameless = "return [...document.querySelectorAll('svg.plot')].filter((plot) => !plot.querySelector('title')?.textContent \
                    || !plot.querySelector('desc')?.textContent).length";
    assert_eq!(browser.run(nameless), json!(0));
    assert!(browser.run("return document.querySelectorAll('svg.plot').length").as_u64() > Some(10));
    assert_eq!(browser.console(), Vec::<String>::new());
}
