import type { ChangeEvent } from 'react';

/** The props of a text field with this value. */
export function textProps(value: string, onType: (value: string) => void) {
  return {
    value,
    onChange: (event: ChangeEvent<HTMLInputElement>): void => onType(event.currentTarget.value),
  };
}

/** The props of a checkbox or switch. */
export function tickProps(checked: boolean, onTick: (checked: boolean) => void) {
  return {
    checked,
    onChange: (event: ChangeEvent<HTMLInputElement>): void => onTick(event.currentTarget.checked),
  };
}

/** The props of a select that always has a value. */
export function choiceProps(value: string, onPick: (value: string) => void) {
  return {
    value,
    allowDeselect: false,
    onChange: (next: string | null): void => {
      if (next !== null) onPick(next);
    },
  };
}
