"use strict";
// Elements of the page. Data becomes text nodes and attributes only, never markup: names of classes
// and files can be any text.

// Children that are null, undefined or false are left out.
function element(tag, attributes, ...children) {
  const node = document.createElement(tag);
  setAttributes(node, attributes);
  node.append(...children.flat().filter((child) => (child ?? false) !== false));
  return node;
}

function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
}

function svgElement(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAttributes(node, attributes);
  node.append(...children);
  return node;
}

function paragraph(text, kind) {
  return element("p", { class: kind }, text);
}

// Shown in place of missing content.
function emptyState(text) {
  return paragraph(text, "empty");
}

function list(kind, items) {
  return element(
    "ul",
    { class: kind },
    items.map((item) => element("li", {}, item)),
  );
}

function button(content, action, attributes) {
  return element("button", { type: "button", onclick: action, ...attributes }, content);
}

// A <select> with its label. Options are {value, text}.
function labelledSelect(label, options, value, change, attributes) {
  const items = options.map((option) =>
    element("option", { value: option.value, selected: String(option.value) === String(value) }, option.text),
  );
  const select = element("select", { ...attributes, onchange: () => change(select.value) }, items);
  return element("label", { class: "picker" }, element("span", {}, label), select);
}

function labelledCheckbox(label, checked, change, attributes) {
  const onchange = () => change(box.checked);
  const box = element("input", { type: "checkbox", checked, ...attributes, onchange });
  return element("label", { class: "check" }, box, element("span", {}, label));
}

// A box of its own for what may be wider than the page; reachable by keyboard, since
// scrolling is the only way to see all of it.
function scrollBox(label, ...children) {
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, ...children);
}
