import { ChevronsUpDown } from 'lucide-react';
import type { ReactNode } from 'react';
import { useProject } from '../api/index.ts';
import { laterMenu } from '../parts/later-menu.tsx';
import classes from './top-bar.module.css';

const ProjectMenu = laterMenu(async () => (await import('./project-menu.tsx')).ProjectMenu);

export function ProjectSwitcher(): ReactNode {
  const { name } = useProject();
  return (
    <ProjectMenu
      button={
        <button type="button" className={classes.switcher} aria-label={`Project ${name}: switch project`}>
          <span>{name}</span>
          <ChevronsUpDown size={14} aria-hidden="true" />
        </button>
      }
    />
  );
}
