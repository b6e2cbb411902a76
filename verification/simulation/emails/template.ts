import { type By, isRefused } from '../../../packages/server/src/modules/drafts/refusals.ts';
import type { Draft } from '../../../packages/server/src/modules/drafts/draft.ts';
import type { Stage } from './sender.ts';
import { type Template, write } from './store.ts';

const INCOMPLETE = 'Hello, incomplete';
const COSTLY = 'Hello, costly';
const BODIES: Record<Template, string> = {
  good: 'Hello',
  'fails in drafting': INCOMPLETE,
  'fails in sending': COSTLY,
};

type Rendered = Pick<Draft, 'content' | 'facts'> & { missing: string | null; isFailed: boolean };

/** Renders. A part that exceeds the limits in drafting is missing, as in `gapOf`. */
export function renderTemplate(template: Template): Rendered {
  const isFailed = template === 'fails in drafting';
  return {
    content: { subject: 'Hello', preheader: '', body: BODIES[template], format: 'markdown' },
    facts: {},
    missing: isFailed ? 'body' : null,
    isFailed,
  };
}

export function isIncomplete({ content }: Draft): boolean {
  return content.body === INCOMPLETE;
}

export function rendersForSending({ content }: Draft): boolean {
  return content.body !== COSTLY && content.body !== INCOMPLETE;
}

/** Returns whether publishing a version updates the draft: it is not edited, approved or being sent. */
export function followsTemplate({ isEdited, state, resumeState, endedAt, reason }: Draft): boolean {
  const isUntouched = !isEdited && state !== 'approved' && resumeState !== 'approved';
  return isUntouched && state !== 'sending' && endedAt === null && reason !== 'deferred';
}

/** As `followEmail`: publishes a version, in one commit with the drafts that follow it. */
export function followTemplate({ store, product }: Stage, template: Template, { actor, now }: By): void {
  store.template = template;
  const rendered = renderTemplate(template);
  for (const draft of store.drafts.values()) {
    if (!followsTemplate(draft) || draft.content.body === rendered.content.body) continue;
    const decision = product.follow(draft, { ...rendered, why: 'template_changed', actor, now });
    if (!isRefused(decision)) write(store, decision);
  }
}
