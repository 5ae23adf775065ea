/** The sliders and lists of the page. */

import type { Knob } from "./knobs.ts";
import type { Scenario } from "./scenario.ts";

/** Puts the knobs into the page, and calls `onMove` with what they make of the scenario. */
export class Controls {
  private scenario: Scenario = {};
  private readonly shown = new Map<string, { knob: Knob; show: () => void; element: HTMLElement }>();

  constructor(place: HTMLElement, knobs: Iterable<Knob>, private readonly onMove: (scenario: Scenario) => void) {
    for (const knob of knobs) {
      const made = knob.isList ? this.list(knob) : this.slider(knob);
      place.append(made.element);
      this.shown.set(knob.id, { knob, ...made });
    }
  }

  /** Shows a scenario, and only the knobs named, or all. */
  show(scenario: Scenario, names?: readonly string[]): void {
    this.scenario = scenario;
    for (const [id, { show, element }] of this.shown) {
      element.hidden = names !== undefined && !names.includes(id);
      show();
    }
  }

  private slider(knob: Knob): { element: HTMLElement; show: () => void } {
    const { element, label } = frame(knob);
    const input = Object.assign(document.createElement("input"), {
      type: "range", id: knob.id, min: "0", max: String(knob.values.length - 1), step: "1",
    });
    const output = document.createElement("output");
    output.htmlFor.add(knob.id);
    label.after(output);
    element.append(input);
    const tell = (value: string): void => {
      output.textContent = value || "default";
      input.setAttribute("aria-valuetext", value || "default");
    };
    input.addEventListener("input", () => {
      const value = knob.values[input.valueAsNumber] ?? "";
      tell(value);
      this.scenario = knob.write(this.scenario, value);
      this.onMove(this.scenario);
    });
    const show = (): void => {
      const value = knob.read(this.scenario);
      const place = knob.values.indexOf(value);
      if (place >= 0) input.valueAsNumber = place;
      tell(value);
    };
    return { element, show };
  }

  private list(knob: Knob): { element: HTMLElement; show: () => void } {
    const { element } = frame(knob);
    const select = Object.assign(document.createElement("select"), { id: knob.id });
    for (const value of knob.values) select.append(new Option(value, value));
    element.append(select);
    select.addEventListener("change", () => {
      this.scenario = knob.write(this.scenario, select.value);
      this.onMove(this.scenario);
    });
    const show = (): void => {
      const value = knob.read(this.scenario) || (knob.values[0] ?? "");
      if (!knob.values.includes(value)) {
        // What a pasted scenario has, and the list has not.
        select.querySelector("option[data-own]")?.remove();
        const own = new Option(value, value);
        own.dataset["own"] = "";
        select.append(own);
      }
      select.value = value;
    };
    return { element, show };
  }
}

function frame({ id, label: text, key }: Knob): { element: HTMLElement; label: HTMLLabelElement } {
  const element = document.createElement("div");
  element.className = "knob";
  element.id = `${id}-knob`;
  const label = Object.assign(document.createElement("label"), { htmlFor: id, textContent: text, title: key });
  element.append(label);
  return { element, label };
}
