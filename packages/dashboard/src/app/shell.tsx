import { useDisclosure, useLocalStorage } from '@mantine/hooks';
import type { ProjectListed } from '@beckon/contract/dashboard';
import { Outlet, useParams } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { FeedProvider, ProjectProvider, useApi, useProject } from '../api/index.ts';
import { AheadProvider, later, Loaded, WhenOpened, ZoneProvider } from '../parts/index.ts';
import { Banners } from './banners.tsx';
import { useFocusOnPage } from './focus-on-page.ts';
import { useFrameKeys } from './frame-keys.ts';
import { Gate } from './gate.tsx';
import { forgetLastProject, keepLastProject } from './last-project.ts';
import type { NavPath } from './nav-page.ts';
import { isInSettings } from './place.ts';
import { NotFound } from './not-found.tsx';
import { PlaceProvider } from './page-place.tsx';
import { PageTabs } from './page-tabs.tsx';
import { Rail } from './rail.tsx';
import { Redirect } from '../parts/redirect.tsx';
import classes from './shell.module.css';
import { SignInDialog } from './sign-in-dialog.tsx';
import { TopBar } from './top-bar.tsx';
import { usePlace } from './use-place.ts';

// Loaded when needed, so that the first page does not wait for them.
const Help = later(() => import('./help.tsx'), 'Help', null);
const Palette = later(() => import('./palette.tsx'), 'Palette', null);
const PauseDialog = later(() => import('../screens/policy/pause-dialog.tsx'), 'PauseDialog', null);

/** The frame of all screens of a project, for its members. */
export function Shell(): ReactNode {
  return (
    <Gate>
      <OfProject />
      <SignInDialog />
    </Gate>
  );
}

const PROJECTS_EVERY_MS = 60_000;

function OfProject(): ReactNode {
  const { project: id } = useParams({ strict: false });
  // The feed has no item for changes of the whole project, such as a pause. The banner reports a lost connection.
  const projects = useApi('GET /projects', {}, { everyMs: PROJECTS_EVERY_MS });
  const project = projects.data?.data.find((entry) => String(entry.id) === id);
  useEffect(() => {
    if (project) keepLastProject(project.id);
    // Forget a project that the member can no longer open, so that `/` does not lead there.
    else if (projects.data) forgetLastProject();
  }, [project, projects.data]);
  return (
    <Loaded query={projects.data ? { ...projects, error: null } : projects}>
      {({ data }) => {
        if (data.length === 0) return <Redirect to="/projects" />;
        return project ? <Framed key={project.id} project={project} /> : <NotFound />;
      }}
    </Loaded>
  );
}

function Framed({ project }: { project: ProjectListed }): ReactNode {
  return (
    <ProjectProvider project={project}>
      <ZoneProvider zone={project.time_zone}>
        <FeedProvider>
          <InItsTime aheadMs={project.ahead_ms}>
            <Frame />
          </InItsTime>
        </FeedProvider>
      </ZoneProvider>
    </ProjectProvider>
  );
}

/** Pages that use real time, even in a sandbox. */
const IN_REAL_TIME = new Set<NavPath>([
  '/p/$project/imports',
  '/p/$project/dead-letters',
  '/p/$project/webhooks',
  '/p/$project/settings/domains',
  '/p/$project/settings/audit',
  '/p/$project/settings/api-keys',
  '/p/$project/settings/team',
  '/p/$project/settings/system',
]);

function InItsTime({ aheadMs, children }: { aheadMs: number; children: ReactNode }): ReactNode {
  const place = usePlace();
  const isReal = place !== null && IN_REAL_TIME.has(place.page.to);
  return <AheadProvider ms={isReal ? 0 : aheadMs}>{children}</AheadProvider>;
}

function Frame(): ReactNode {
  const { livemode } = useProject();
  const inSettings = isInSettings(usePlace());
  const [isOpen, { toggle, close }] = useDisclosure();
  const [isHelping, help] = useDisclosure();
  const [isPausing, pause] = useDisclosure();
  const [isFinding, find] = useDisclosure();
  const [isSmall, setSmall] = useLocalStorage({
    key: 'beckon-rail-small',
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  useFrameKeys({ onHelp: help.open, onFind: find.open });
  useFocusOnPage();
  return (
    <div
      className={classes.frame}
      data-small={isSmall}
      data-open={isOpen}
      data-mode={livemode ? 'production' : 'sandbox'}
    >
      <a href="#content" className={classes.skip}>
        Skip to content
      </a>
      <header className={classes.header}>
        <TopBar
          isOpen={isOpen}
          onToggle={toggle}
          onPause={pause.open}
          onHelp={help.open}
          onFind={find.open}
        />
      </header>
      <nav className={classes.nav} aria-label={inSettings ? 'Settings' : 'Screens'}>
        <Rail isSmall={isSmall && !isOpen} onSmall={setSmall} onGo={close} />
      </nav>
      <main id="content" className={classes.main} tabIndex={-1}>
        <Banners />
        <PageTabs />
        <div className={classes.page}>
          <PlaceProvider>
            <Outlet />
          </PlaceProvider>
        </div>
      </main>
      <WhenOpened opened={isFinding}>
        <Palette opened={isFinding} onClose={find.close} onPause={pause.open} onHelp={help.open} />
      </WhenOpened>
      <WhenOpened opened={isHelping}>
        <Help opened={isHelping} onClose={help.close} />
      </WhenOpened>
      <WhenOpened opened={isPausing}>
        <PauseDialog opened={isPausing} onClose={pause.close} />
      </WhenOpened>
    </div>
  );
}
