import type { Signers } from '../../features/domains/signers.ts';
import type { Outlet } from '../../features/sending/facts.ts';
import type { Renderer } from '../rendering/renderer.ts';
import type { Providers } from './providers.ts';

/** The services that an installation sends with, apart from the transport. */
export type Mailroom = {
  outlet: Outlet;
  signers: Signers;
  providers: Providers;
  /** Renders and checks emails, within bounds. */
  renderer: Renderer;
};
