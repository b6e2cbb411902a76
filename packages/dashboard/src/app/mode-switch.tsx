import { Badge } from '@mantine/core';
import type { ProjectListed } from '@beckon/contract/dashboard';
import { Link, useNavigate } from '@tanstack/react-router';
import { FlaskConical, type LucideIcon, Radio } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useMay, useProject } from '../api/index.ts';
import { later, WhenOpened } from '../parts/index.ts';
import { Tip } from '../parts/tip.tsx';
import { usePair } from '../screens/sandbox/use-pair.ts';
import classes from './mode-switch.module.css';
import type { NavPath } from './nav-page.ts';
import { usePlace } from './use-place.ts';

const CreateSandbox = later(() => import('../screens/sandbox/create-sandbox.tsx'), 'CreateSandbox', null);

const MODES = {
  production: { label: 'Production', icon: Radio, why: 'Events and emails of real users' },
  sandbox: {
    label: 'Sandbox',
    icon: FlaskConical,
    why: 'Separate users, events and emails. No email leaves this machine, and you control the clock.',
  },
};
type Mode = keyof typeof MODES;

/** Shows whether this is production or its sandbox, and switches between them on the same screen. */
export function ModeSwitch(): ReactNode {
  const { demo, suspended } = useProject();
  return (
    <>
      {demo ? (
        <Badge variant="default" tt="none">
          Demo
        </Badge>
      ) : (
        <Switch />
      )}
      {suspended && (
        <Tip label="The operator of this installation suspended the project. No data is accepted and no email is sent.">
          <Badge variant="default" tt="none" c="var(--mantine-color-error)">
            Suspended
          </Badge>
        </Tip>
      )}
    </>
  );
}

function Switch(): ReactNode {
  const { livemode } = useProject();
  const pair = usePair();
  return (
    <div className={classes.switch} role="group" aria-label="Environment">
      <Side mode="production" project={pair.production} isCurrent={livemode} />
      <Side mode="sandbox" project={pair.sandbox} isCurrent={!livemode} />
    </div>
  );
}

type SideProps = { mode: Mode; project: ProjectListed | null; isCurrent: boolean };

function Side({ mode, project, isCurrent }: SideProps): ReactNode {
  const { label, icon, why } = MODES[mode];
  const to = useScreen();
  const content = <Content icon={icon} label={label} />;
  if (isCurrent)
    return (
      <Tip label={why}>
        <span className={classes.side} aria-current="true" data-mode={mode}>
          {content}
        </span>
      </Tip>
    );
  if (project)
    return (
      <Tip label={why}>
        <Link to={to} params={{ project: String(project.id) }} className={classes.side}>
          {content}
        </Link>
      </Tip>
    );
  return mode === 'sandbox' ? <NewSandbox to={to}>{content}</NewSandbox> : null;
}

function Content({ icon: Icon, label }: { icon: LucideIcon; label: string }): ReactNode {
  return (
    <>
      <Icon size={13} aria-hidden="true" />
      <span className={classes.label}>{label}</span>
    </>
  );
}

/** The open screen. An item exists in one of the two projects only, so its list is opened instead. */
function useScreen(): NavPath {
  return usePlace()?.page.to ?? '/p/$project/home';
}

function NewSandbox({ to, children }: { to: NavPath; children: ReactNode }): ReactNode {
  const mayCreate = useMay('admin');
  const navigate = useNavigate();
  const [isCreating, setCreating] = useState(false);
  return (
    <>
      <Tip label={mayCreate ? 'Create a sandbox' : 'No sandbox yet. An admin can create it.'}>
        <button
          type="button"
          className={classes.side}
          aria-disabled={!mayCreate}
          onClick={() => mayCreate && setCreating(true)}
        >
          {children}
        </button>
      </Tip>
      <WhenOpened opened={isCreating}>
        <CreateSandbox
          opened={isCreating}
          onClose={() => setCreating(false)}
          onReady={(id) => void navigate({ to, params: { project: String(id) } })}
        />
      </WhenOpened>
    </>
  );
}
