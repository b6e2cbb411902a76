import type { Signers } from '../../features/domains/index.ts';
import type { Outlet } from '../../features/sending/index.ts';
import type { Renderer } from '../rendering/index.ts';
import type { Providers } from './providers.ts';

/** What an installation sends with, beside the way out itself. */
export type Mailroom = {
  outlet: Outlet;
  signers: Signers;
  providers: Providers;
  /** What renders and checks emails, within bounds. */
  renderer: Renderer;
};
