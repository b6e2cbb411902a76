import { countRemoteImages } from '../../platform/outbound/inline-images.ts';
import { previewDraft, renderDraft } from './preview-draft.ts';
import { sendEmail, type DashboardRoute, routesFor, type KitDeps } from '../workspace/index.ts';
import type { SendServices } from '../delivery/index.ts';
import type { Models } from '../rules/index.ts';
import type { Outbound } from '../../platform/outbound/outbound.ts';
import type { TokenKeys } from '../../platform/crypto/email-token.ts';

type Deps = KitDeps & {
  sendServices: SendServices;
  models: Models;
  openOutbound: () => Outbound;
  tokenKeys: TokenKeys;
};
const { route } = routesFor<Deps>();

/** Gmail clips an email after this many bytes of HTML. */
const CLIP_BYTES = 102 * 1024;

export const draftEmailRoutes: DashboardRoute<Deps>[] = [
  route('GET /projects/:project/drafts/:draft/preview', {
    needs: 'viewer',
    async handle({ db, sendServices, models, tokenKeys, newId }, { projectId, params }) {
      const ref = { projectId, draftId: params.draft };
      const { html, ...email } = await previewDraft({ db, sendServices, models, tokenKeys, newId }, ref);
      return {
        data: {
          ...email,
          bytes: { ...email.bytes, html_max: CLIP_BYTES },
          remote_images: countRemoteImages(html),
        },
      };
    },
  }),
  route('GET /projects/:project/drafts/:draft/email.html', {
    needs: 'viewer',
    async handle({ db, openOutbound, models, sendServices }, { projectId, params, query, reply }) {
      const ref = { projectId, draftId: params.draft, now: db.clock.now(), models };
      const { html } = await renderDraft({ db, renderer: sendServices.renderer }, ref);
      return sendEmail({ openOutbound }, reply, { html, ...query });
    },
  }),
];
