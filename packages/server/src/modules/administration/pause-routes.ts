import { Fault } from '../../platform/fault.ts';
import { pauseProject, previewResume, resumeProject, type Resumption } from './pause-project.ts';
import { previewPause } from '../review/index.ts';
import { routesFor, type KitDeps } from '../workspace/index.ts';
import type { SendServices } from '../delivery/index.ts';

type Deps = KitDeps & { sendServices: SendServices };
const { route } = routesFor<Deps>();

export const pauseRoutes = [
  route('GET /projects/:project/pause', {
    needs: 'viewer',
    isHeavy: true,
    handle: async ({ db, sendServices }, { projectId }) => ({
      data: await previewPause({ db, sendServices }, projectId),
    }),
  }),
  route('POST /projects/:project/pause', {
    needs: 'admin',
    audit: 'project.pause',
    async handle({ db }, { projectId, note }) {
      await pauseProject(db, projectId);
      note({ before: { paused: false }, after: { paused: true } });
      return { data: { paused: true as const } };
    },
  }),
  route('GET /projects/:project/resume', {
    needs: 'viewer',
    isHeavy: true,
    handle: async ({ db }, { projectId }) => ({ data: resumePreview(await previewResume(db, projectId)) }),
  }),
  route('POST /projects/:project/resume', {
    needs: 'admin',
    isHeavy: true,
    audit: 'project.resume',
    async handle({ db }, { projectId, body, actor, note }) {
      const preview = await previewResume(db, projectId);
      if (!preview.isPaused) {
        const message = 'The project is not paused. Another member has already resumed it';
        throw new Fault('conflict', { details: [{ message }] });
      }
      requireTyped(preview, body.confirmed);
      const counts = await resumeProject(db, { projectId, actor, confirmed: preview.needsConfirmation });
      note({ before: { paused: true }, after: { paused: false, ...counts } });
      return { data: { paused: false as const, ...counts } };
    },
  }),
];

/** Releases this many long-held drafts only if the request contains their number, as proof that the member read it. */
function requireTyped({ needsConfirmation, longHeld }: Resumption, typed: number | undefined): void {
  if (!needsConfirmation || typed === longHeld) return;
  const message = `${longHeld} drafts were held for more than a day. Enter this number to release them`;
  throw new Fault('conflict', { details: [{ message, field: 'confirmed' }] });
}

function resumePreview({ isPaused, longHeld, needsConfirmation, ...counts }: Resumption) {
  return { was_paused: isPaused, ...counts, long_held: longHeld, needs_confirmation: needsConfirmation };
}
