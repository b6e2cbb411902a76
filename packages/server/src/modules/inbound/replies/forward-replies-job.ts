import type { Log } from '../../../platform/log.ts';
import { type ForwardDeps, forwardNext } from './forward-replies.ts';
import type { Job } from '../../../platform/jobs/scheduler.ts';

const EVERY_MS = 10_000;
/** The limit per run, because other jobs may be due. */
const AT_ONCE_MAX = 500;

/** Forwards replies to the teams. Two processes take different ones. */
export function forwardReplies({ log, ...deps }: ForwardDeps & { log: Log }): Job {
  return {
    name: 'forward_replies',
    everyMs: EVERY_MS,
    async run(stopping) {
      for (let n = 0; n < AT_ONCE_MAX && !stopping(); n += 1) {
        const forwarded = await forwardNext(deps);
        if (!forwarded) return;
        const { projectId, id, failure } = forwarded;
        const ids = { project_id: projectId, reply_id: id };
        if (failure === null) log.info(ids, 'reply.forwarded');
        else log.warn({ ...ids, reason: failure }, 'reply.not_forwarded');
      }
    },
  };
}
