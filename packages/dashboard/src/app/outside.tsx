import { Group, Text } from '@mantine/core';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import { type ReactNode, useMemo } from 'react';
import type { ProjectListed } from '@beckon/contract/dashboard';
import { useApi, useSession } from '../api/index.ts';
import { ZoneProvider } from '../parts/index.ts';
import { PagePlace } from '../parts/page.tsx';
import { AccountMenu } from './account-menu.tsx';
import { docsOf } from './docs.ts';
import { Gate } from './gate.tsx';
import { lastProject } from './last-project.ts';
import classes from './outside.module.css';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { SignInDialog } from './sign-in-dialog.tsx';
import { ZoneSwitch } from './zone-switch.tsx';

/** Pages that need no session. */
const OPEN = new Set(['/setup', '/sign-in', '/invite', '/reset']);

/** The frame of pages outside of projects. */
export function Outside(): ReactNode {
  const { pathname } = useLocation();
  const isOpen = OPEN.has(pathname);
  const place = useMemo(() => ({ trail: [], docs: docsOf(pathname) }), [pathname]);
  return (
    <PagePlace value={place}>
      <div className={classes.outside}>
        <header className={classes.head}>
          <Link to="/" className={classes.home}>
            <img src="/beckon.svg" alt="" width={24} height={24} />
            <Text component="span" fw={620}>
              Beckon
            </Text>
          </Link>
          {!isOpen && (
            <Group gap="sm" wrap="nowrap" miw={0}>
              <BackToProject />
              <AccountMenu />
            </Group>
          )}
        </header>
        <main id="content" className={classes.main}>
          {isOpen ? (
            <Outlet />
          ) : (
            <Gate>
              <InZone>
                <Outlet />
              </InZone>
              <SignInDialog />
              <ConfirmDialog />
            </Gate>
          )}
        </main>
      </div>
    </PagePlace>
  );
}

/** A way back from the profile. Without a session or a project there is nowhere to go back to. */
function BackToProject(): ReactNode {
  const session = useSession();
  const isIn = Boolean(session.data?.data.member);
  const project = useOwnProject(isIn);
  if (!isIn || !project) return null;
  return (
    <Link to="/p/$project/home" params={{ project: String(project.id) }} className={classes.back}>
      <ArrowLeft size={16} aria-hidden="true" />
      <span>Back to {project.name}</span>
    </Link>
  );
}

/** The project that was open last, or else the first one. */
function useOwnProject(enabled: boolean): ProjectListed | undefined {
  const { data } = useApi('GET /projects', {}, { staleTimeMs: PROJECTS_STALE_MS, enabled });
  const projects = data?.data ?? [];
  return projects.find(({ id }) => String(id) === lastProject()) ?? projects[0];
}

/** The zone of the member's own project, or UTC without projects. */
function InZone({ children }: { children: ReactNode }): ReactNode {
  const project = useOwnProject(true);
  const zone = project?.time_zone ?? 'UTC';
  return (
    <ZoneProvider zone={zone}>
      {children}
      {project && <ZoneSwitch />}
    </ZoneProvider>
  );
}

const PROJECTS_STALE_MS = 60_000;
