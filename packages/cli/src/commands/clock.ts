import { Failure } from '../failure.ts';
import type { Context } from '../framework/context.ts';
import { custom, type Noun } from '../framework/declare.ts';
import { count } from '../output/words.ts';
import { currentProject } from './current-project.ts';

const CLOCK = 'GET /projects/:project/clock';
const ADVANCE = 'POST /projects/:project/clock';
/** A year of a sandbox with many users takes minutes. */
const ADVANCE_TIMEOUT_MS = 10 * 60_000;

export const clock: Noun = {
  name: 'clock',
  help: 'Show and advance the test clock of a sandbox',
  commands: [
    custom('show', {
      help: 'Show the current time of the test clock',
      routes: ['GET /projects', CLOCK],
      async run(context) {
        const { data } = await context.api.call(CLOCK, { project: await sandboxOf(context) });
        await context.output.value(data, ({ now }, { at }) => at(now));
      },
    }),
    custom('advance <duration>', {
      help: 'Advance the test clock and process everything that becomes due in that time',
      args: { duration: 'How far to advance, such as 90m, 12h or 7d; at most 366d' },
      routes: ['GET /projects', ADVANCE],
      async run(context, { duration: advance }) {
        const { data } = await context.api.call(ADVANCE, {
          project: await sandboxOf(context),
          body: { advance },
          timeoutMs: ADVANCE_TIMEOUT_MS,
        });
        await context.output.value(
          data,
          ({ now, drafts, emails }, { at }) =>
            `The test clock is at ${at(now)}. ${count(drafts, 'draft')} created, ${count(emails, 'email')} sent to the test inbox.`,
        );
      },
    }),
  ],
};

/** The chosen project if it is a sandbox, else the sandbox of the chosen project. */
async function sandboxOf(context: Context<'GET /projects'>): Promise<string> {
  const { current, sandbox } = await currentProject(context);
  const found = current.sandbox_of === null ? sandbox : current;
  if (found) return String(found.id);
  throw new Failure('not_found', 'This project has no sandbox. Create one: beckon settings set sandbox=on');
}
