import { Link } from '@tanstack/react-router';
import { CirclePause, FlaskConical, Inbox, type LucideIcon, WifiOff } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { useFeedState, useProject, useSession } from '../api/index.ts';
import { later } from '../parts/index.ts';
import classes from './banners.module.css';

const SandboxClock = later(() => import('./sandbox-clock.tsx'), 'SandboxClock', <>Sandbox</>);

/** What is true of every page below, and changes how it is to be read. */
export function Banners(): ReactNode {
  const project = useProject();
  const session = useSession();
  const isLost = useIsLost();
  const params = { project: String(project.id) };
  return (
    <>
      <div role="status" aria-live="polite">
        {isLost && (
          <Banner icon={WifiOff} tone="warn">
            Stream lost, reconnecting. What you see may be old.
          </Banner>
        )}
      </div>
      {project.paused && (
        <Banner icon={CirclePause} tone="warn">
          Sending is paused: nothing leaves until somebody resumes it.
        </Banner>
      )}
      {!project.livemode && (
        <Banner icon={FlaskConical} tone="quiet">
          <SandboxClock />
        </Banner>
      )}
      {project.livemode && (project.demo || session.data?.data.installation.test_inbox === true) && (
        <Banner icon={Inbox} tone="quiet">
          {project.demo
            ? 'Demo: all of it is made up, and nothing leaves this machine.'
            : 'Outbox: nothing leaves this machine.'}{' '}
          <Link to="/p/$project/test-inbox" params={params}>
            See the letters
          </Link>
        </Banner>
      )}
    </>
  );
}

type BannerProps = { icon: LucideIcon; tone: 'warn' | 'quiet'; children: ReactNode };

function Banner({ icon: Icon, tone, children }: BannerProps): ReactNode {
  return (
    <div className={classes.banner} data-tone={tone}>
      <Icon size={14} aria-hidden="true" />
      <div className={classes.words}>{children}</div>
    </div>
  );
}

/** A page that was only just opened has lost nothing yet. */
const PATIENCE_MS = 4_000;

function useIsLost(): boolean {
  const state = useFeedState();
  const [isLost, setIsLost] = useState(false);
  useEffect(() => {
    if (state === 'live') {
      setIsLost(false);
      return undefined;
    }
    const timer = setTimeout(() => setIsLost(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [state]);
  return isLost;
}
