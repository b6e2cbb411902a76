import type { ReactNode } from 'react';
import { later, WhenOpened } from './later.tsx';

const SidePanelInner = later(() => import('./side-panel-inner.tsx'), 'SidePanelInner', null);

export type SidePanelProps = {
  opened: boolean;
  onClose: () => void;
  title: string;
  size?: 'md' | 'lg' | 'xl';
  children: ReactNode;
};

/** A drawer for one row of a list. Esc closes it and returns the focus. */
export function SidePanel(props: SidePanelProps): ReactNode {
  return (
    <WhenOpened opened={props.opened}>
      <SidePanelInner {...props} />
    </WhenOpened>
  );
}
