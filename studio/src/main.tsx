import { render } from 'preact';
import { App } from './app.tsx';
import { startLive } from './api/events.ts';
import { startLooks } from './state/looks.ts';
import { me } from './state/session.ts';
import './style/tokens.css';
import './style/base.css';
import './style/parts.css';
import 'uplot/dist/uPlot.min.css';

startLooks();
startLive(() => !!me.value?.signed_in_until);
render(<App />, document.getElementById('app')!);
