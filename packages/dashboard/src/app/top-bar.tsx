import { Burger, Button, Group, Kbd } from '@mantine/core';
import { CirclePause, CirclePlay, Search } from 'lucide-react';
import type { ReactNode } from 'react';
import { useMay, useProject } from '../api/index.ts';
import { later } from '../parts/index.ts';
import { Tip } from '../parts/tip.tsx';
import { AccountMenu } from './account-menu.tsx';
import { ModeSwitch } from './mode-switch.tsx';
import { ProjectSwitcher } from './project-switcher.tsx';
import classes from './top-bar.module.css';

const SandboxClock = later(() => import('./sandbox-clock.tsx'), 'SandboxClock', null);

export type TopBarProps = {
  isOpen: boolean;
  onToggle: () => void;
  onFind: () => void;
  onPause: () => void;
  onHelp: () => void;
};

export function TopBar({ isOpen, onToggle, onFind, onPause, onHelp }: TopBarProps): ReactNode {
  const { livemode } = useProject();
  return (
    <div className={classes.bar}>
      <Group gap="xs" wrap="nowrap" miw={0}>
        <Burger
          hiddenFrom="sm"
          size="sm"
          opened={isOpen}
          onClick={onToggle}
          aria-label="Navigation"
          aria-expanded={isOpen}
        />
        <ProjectSwitcher />
        <ModeSwitch />
        {!livemode && <SandboxClock />}
      </Group>
      <Group gap="xs" wrap="nowrap">
        <Button
          variant="default"
          size="xs"
          className={classes.search ?? ''}
          leftSection={<Search size={14} aria-hidden="true" />}
          rightSection={<Kbd size="xs">{navigator.userAgent.includes('Mac') ? '⌘K' : 'Ctrl K'}</Kbd>}
          onClick={onFind}
          visibleFrom="sm"
        >
          Go to or search
        </Button>
        <PauseButton onPause={onPause} />
        <AccountMenu onHelp={onHelp} />
      </Group>
    </div>
  );
}

function PauseButton({ onPause }: { onPause: () => void }): ReactNode {
  const { paused } = useProject();
  const mayPause = useMay('admin');
  const [label, Icon] = paused ? ['Resume sending', CirclePlay] : ['Pause sending', CirclePause];
  return (
    <Tip label={mayPause ? 'Shows the consequences first' : 'Requires the admin role'}>
      <Button
        size="xs"
        variant={paused ? 'filled' : 'default'}
        leftSection={<Icon size={15} aria-hidden="true" />}
        data-disabled={!mayPause}
        aria-disabled={!mayPause}
        onClick={() => {
          if (mayPause) onPause();
        }}
        className={classes.pause ?? ''}
        aria-label={label}
      >
        <span className={classes.word}>{label}</span>
      </Button>
    </Tip>
  );
}
