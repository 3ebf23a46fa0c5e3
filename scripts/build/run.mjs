// `npm run build`: installs what the build needs, if it is missing, and builds the program.
import { setUpBuild } from '../setup.mjs';

setUpBuild();
await (await import('./build.mjs')).buildAll();
