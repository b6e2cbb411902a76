import type { Signers, Outlet } from '../sending/index.ts';
import type { Renderer } from '../rendering/index.ts';
import type { Providers } from './providers.ts';

/** The services that an installation sends with, apart from the transport. */
export type Mailroom = {
  outlet: Outlet;
  signers: Signers;
  providers: Providers;
  /** Renders and checks emails, within bounds. */
  renderer: Renderer;
};
