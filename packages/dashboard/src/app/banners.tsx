import { Link } from '@tanstack/react-router';
import { CirclePause, FlaskConical, Inbox, type LucideIcon, WifiOff } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { useFeedState, useProject, useTestInbox } from '../api/index.ts';
import classes from './banners.module.css';

/** Notices that apply to every page. */
export function Banners(): ReactNode {
  const project = useProject();
  const isTestInbox = useTestInbox();
  const isLost = useIsLost();
  const params = { project: String(project.id) };
  return (
    <>
      <div role="status" aria-live="polite">
        {isLost && (
          <Banner icon={WifiOff} tone="warn">
            Connection lost, reconnecting. This page may be outdated.
          </Banner>
        )}
      </div>
      {project.paused && (
        <Banner icon={CirclePause} tone="warn">
          Sending is paused. No email is sent until a member resumes sending.
        </Banner>
      )}
      {!project.livemode && (
        <Banner icon={FlaskConical} tone="quiet">
          Sandbox: no email leaves this machine.{' '}
          <Link to="/p/$project/test-inbox" params={params}>
            Open test inbox
          </Link>
        </Banner>
      )}
      {project.livemode && (project.demo || isTestInbox) && (
        <Banner icon={Inbox} tone="quiet">
          {project.demo
            ? 'Demo project: all data is made up, and no email is sent.'
            : 'Test inbox: no relay is set, so no email leaves this machine.'}{' '}
          <Link to="/p/$project/test-inbox" params={params}>
            Open test inbox
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

/** A page that was just opened is not disconnected yet. */
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
