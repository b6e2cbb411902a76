import type { MouseEvent } from 'react';

/**
 * For `onClickCapture` around decision buttons. At the second click of a double click, the button belongs to the next draft,
 * or to a dialog that has just opened.
 */
export function firstClick(event: MouseEvent): void {
  if (event.detail < 2) return;
  event.preventDefault();
  event.stopPropagation();
}
