import type { TemplateText } from '../../src/modules/rendering/template.ts';
import { renderedEmail, RENDER_TASKS, type EmailToRender } from '../../src/modules/rendering/pool/tasks.ts';
import { serveTasks } from '../../src/platform/threads/serve-tasks.ts';

/** A thread that renders like any other, but loops forever on a body with this word and on every preview. */
const ENDLESS = 'ENDLESS';

serveTasks({
  ...RENDER_TASKS,
  email(input: EmailToRender) {
    for (; input.content.body.includes(ENDLESS););
    return renderedEmail(input);
  },
  trial(email: TemplateText) {
    for (; email.body.includes(ENDLESS););
    RENDER_TASKS.trial(email);
  },
  preview(): never {
    for (;;);
  },
});
