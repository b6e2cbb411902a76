import type { MouseEvent } from 'react';

/**
 * For `onClickCapture` around what decides. By the second click of a double click something else stands there: the next letter,
 * or a dialog that was not there when somebody began to click.
 */
export function firstClick(event: MouseEvent): void {
  if (event.detail < 2) return;
  event.preventDefault();
  event.stopPropagation();
}
