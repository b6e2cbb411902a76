import { emailOf, RENDER_TASKS, type EmailToRender } from '../src/flows/rendering/tasks.ts';
import { serveTasks } from '../src/io/threads/index.ts';

/** Renders like any other thread, but never comes to an end of a body with this word, nor of a template. */
export const ENDLESS = 'ENDLESS';

serveTasks({
  ...RENDER_TASKS,
  email(input: EmailToRender) {
    for (; input.content.body.includes(ENDLESS););
    return emailOf(input);
  },
  preview(): never {
    for (;;);
  },
});
