import type { ReactNode } from 'react';
import { useMay } from '../api/index.ts';
import { Page, type PageProps } from './page.tsx';

type Props = Omit<PageProps, 'beside' | 'fill'> & {
  role: 'editor' | 'admin';
  /** What members without the role see. */
  instead: ReactNode;
};

/** A page that requires a role, with its actions. */
export function RolePage({ role, title, actions, instead, children }: Props): ReactNode {
  const may = useMay(role);
  return (
    <Page title={title} actions={may ? actions : undefined}>
      {may ? children : instead}
    </Page>
  );
}
